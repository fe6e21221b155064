import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { CallRefused } from '../../kits/typescript/src/call.js';
import type { DeviceClient } from '../../kits/typescript/src/device_client.js';
import { call } from '../../kits/typescript/src/http_call.js';
import type { SeededRandom } from '../../src/engine/random/seeded_random.js';
import { type Answer, answerOf, type Call, RunTime } from '../driver/history.js';
import { judge, type Model } from '../driver/linearizability.js';
import {
  type CounterCall,
  counter,
  endpointStatus,
  type MemberCall,
  member,
  type OnceCall,
  type RegisterCall,
  register,
  type StatusCall,
  setOnce,
  TRIES_MAX,
  type TryCall,
  wrongTries,
} from '../driver/models.js';
import { CALL_MAX_MS, type Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import { Successes } from '../driver/successes.js';
import type { AppClient } from '../fixtures/app_client.js';
import { TestEndpoint } from '../fixtures/endpoints.js';
import { SpeechLoad } from './speech.js';
import type { Witness } from './witness.js';

/** Calls of one small object, after which another takes its place: so many can still be judged. */
const CALLS_PER_ENTITY = 24;
/** Between two calls of one caller. */
const PAUSE_MS = 4;
/** A server that is down is not asked more often than this. */
const DOWN_PAUSE_MS = 25;
const OPEN_MAX_MS = 60_000;
const NATIVE_CLIENT = 'svc-ios';
/** Where streams are said to end. */
const ENDS = [1_000, 2_000, 3_000];

/** A small object that many callers work on at once. */
type Entity = {
  kind: EntityKind;
  name: string;
  calls: Call[];
  model: Model<string | number, unknown>;
  draw: () => unknown;
  ask: (what: unknown) => Promise<unknown>;
  /** How many calls it gets. */
  calls_max: number;
  /** Makes room for others, when nothing is asked of it any more. */
  end: (() => Promise<unknown>) | null;
};
export const ENTITY_KINDS = ['source', 'stream', 'endpoint', 'member', 'claim', 'account', 'sign_in'] as const;
export type EntityKind = (typeof ENTITY_KINDS)[number];

export type Counts = { ok: number; refused: number; unknown: number };

type EventPage = { items: { id: string; type: string }[]; cursor: string };
type MemberView = { account_id: string; role: string };

/**
 * Callers that work on small objects of every kind, several on each at once, and recordings that are transcribed, whatever
 * happens to the servers meanwhile.
 * What they did and heard is kept, and judged at the end.
 */
export class Load {
  readonly counts: Counts = { ok: 0, refused: 0, unknown: 0 };
  readonly done = new Successes<EntityKind>();
  readonly problems: string[] = [];
  readonly witnesses: Witness[] = [];
  readonly speech: SpeechLoad;
  readonly #rig: Servers;
  readonly #random: SeededRandom;
  readonly #time = new RunTime();
  readonly #live = new Map<EntityKind, Promise<Entity>>();
  readonly #all: Entity[] = [];
  readonly #owner: AppClient[];
  readonly #colleague: AppClient[];
  readonly #colleague_id: string;
  readonly #epoch: string;
  readonly #recorder: DeviceClient[];
  readonly #claimants: DeviceClient[][];
  #opened = 0;
  #is_over = false;

  private constructor(
    rig: Servers,
    random: SeededRandom,
    people: {
      owner: AppClient[];
      colleague: AppClient[];
      colleague_id: string;
      epoch: string;
      recorder: DeviceClient[];
      claimants: DeviceClient[][];
      speech: SpeechLoad;
    },
  ) {
    this.#rig = rig;
    this.#random = random;
    this.#owner = people.owner;
    this.#colleague = people.colleague;
    this.#colleague_id = people.colleague_id;
    this.#epoch = people.epoch;
    this.#recorder = people.recorder;
    this.#claimants = people.claimants;
    this.speech = people.speech;
    this.witnesses.push(people.speech.witness);
  }

  /** Everybody who takes part, made while nothing goes wrong yet. */
  static async open(rig: Servers, random: SeededRandom): Promise<Load> {
    const [owner, colleague] = [await rig.signIn('owner@x.test'), await rig.signIn('colleague@x.test')];
    for (const email of ['owner@x.test', 'colleague@x.test']) await rig.entitle(email);
    const apps = rig.clients(owner.access_token);
    const { devices: recorder, epoch } = await rig.boundDevice(apps[0] as AppClient);
    const claimants = await claimantsOf(rig);
    const people = { owner: apps, colleague: rig.clients(colleague.access_token), colleague_id: colleague.user.id };
    const speech = await SpeechLoad.open(rig, random);
    return new Load(rig, random, { ...people, epoch, recorder, claimants, speech });
  }

  /** Lets so many callers work until `stop` resolves, then until they have heard all their answers. */
  async run(
    stop: Promise<unknown>,
    { callers = 8, kinds = ENTITY_KINDS as readonly EntityKind[] } = {},
  ): Promise<void> {
    this.#is_over = false;
    const working = Array.from({ length: callers }, async () => {
      while (!this.#is_over) {
        await this.#call(this.#random.pick(kinds));
        await pause(PAUSE_MS);
      }
    });
    working.push(this.speech.run(stop));
    try {
      await stop;
    } finally {
      this.#is_over = true;
      await Promise.all(working);
    }
  }

  async #call(kind: EntityKind): Promise<void> {
    const entity = await this.#entity(kind);
    if (entity === null) return;
    const what = entity.draw();
    const call = this.#time.begin(entity.calls, what);
    const answer = await answerOf(entity.ask(what));
    if (answer.code === 'ECONNREFUSED') {
      entity.calls.splice(entity.calls.indexOf(call), 1); // nobody was there to hear it
      await pause(DOWN_PAUSE_MS);
      return;
    }
    this.#time.end(call, answer);
    this.#count(kind, call, answer);
    this.#retire(entity);
    if (answer.status === 0 || answer.status === 503) await pause(DOWN_PAUSE_MS);
  }

  #count(kind: EntityKind, call: Call, answer: Answer): void {
    if (call.outcome === 'done') {
      this.counts.ok += 1;
      this.done.add(kind);
    } else if (call.outcome === 'refused') this.counts.refused += 1;
    else this.counts.unknown += 1;
    if (answer.status === 503 && answer.retry_after_s === null)
      this.problems.push(`${kind}: a 503 without Retry-After`);
    if (answer.status >= 500 && answer.status !== 503) this.problems.push(`${kind}: ${answer.status} ${answer.code}`);
  }

  /** The one of a kind that is worked on; null when there is none while the servers are down. */
  async #entity(kind: EntityKind): Promise<Entity | null> {
    const present = this.#live.get(kind);
    const live = await present?.catch(() => null);
    if (live && live.calls.length < live.calls_max) return live;
    if (this.#live.get(kind) === present) {
      const opening = this.#open(kind);
      this.#live.set(kind, opening);
      opening.then(
        (entity) => this.#all.push(entity),
        () => {},
      );
    }
    return (await this.#live.get(kind)?.catch(() => null)) ?? null;
  }

  /** What was worked on long enough goes, when its last call is answered. */
  #retire(entity: Entity): void {
    const { calls, calls_max, end } = entity;
    if (calls.length < calls_max || calls.some(({ outcome }) => outcome === 'under way')) return;
    entity.end = null;
    void end?.().catch(() => {});
  }

  async #open(kind: EntityKind): Promise<Entity> {
    const name = `${kind} ${++this.#opened}`;
    for (const until = performance.now() + OPEN_MAX_MS; ; ) {
      try {
        return await this.#make(kind, name);
      } catch (error) {
        if (this.#is_over || performance.now() > until) throw error;
        await pause(DOWN_PAUSE_MS);
      }
    }
  }

  #make(kind: EntityKind, name: string): Promise<Entity> {
    switch (kind) {
      case 'source':
        return this.#source(name);
      case 'stream':
        return this.#stream(name);
      case 'endpoint':
        return this.#endpoint(name);
      case 'member':
        return this.#member(name);
      case 'claim':
        return this.#claim(name);
      case 'account':
        return this.#account(name);
      case 'sign_in':
        return this.#signIn(name);
    }
  }

  #app(): AppClient {
    return this.#random.pick(this.#owner);
  }

  async #source(name: string): Promise<Entity> {
    const { id } = await this.#app().ask<{ id: string }>('POST', '/sources', { name });
    let written = 0;
    return entity<RegisterCall>('source', name, {
      model: register(name),
      draw: () => (this.#random.chance(0.5) ? { op: 'write', value: `${name} ${++written}` } : { op: 'read' }),
      ask: async (what) => {
        if (what.op === 'write') return this.#app().ask('PATCH', `/sources/${id}`, { name: what.value });
        return (await this.#app().ask<{ name: string }>('GET', `/sources/${id}`)).name;
      },
      end: () => this.#app().ask('DELETE', `/sources/${id}`),
    });
  }

  async #stream(name: string): Promise<Entity> {
    const ref = { source_stream_ref: randomUUID(), binding_epoch: this.#epoch };
    const device = () => this.#random.pick(this.#recorder);
    const registered = { ...ref, captured_at: '2026-01-01T12:00:00Z', clock_uncertainty_ms: 5 };
    const { id } = await device().ask<{ id: string }>('POST', '/device/streams', registered);
    return entity<OnceCall>('stream', name, {
      model: setOnce,
      draw: () => (this.#random.chance(0.6) ? { op: 'set', value: this.#random.pick(ENDS) } : { op: 'read' }),
      ask: async (what) => {
        if (what.op === 'set') return device().ask('POST', '/device/streams/end', { ...ref, end_ms: what.value });
        return (await this.#app().ask<{ end_ms?: number }>('GET', `/audio/streams/${id}`)).end_ms ?? 'none';
      },
    });
  }

  async #endpoint(name: string): Promise<Entity> {
    const body = { url: this.#rig.receiver.url('/never'), topics: ['run.published'] };
    const made = await this.#app().ask<{ endpoint: { id: string }; signing_secret: string }>(
      'POST',
      '/endpoints',
      body,
    );
    this.#rig.secrets.set(`signing secret of ${name}`, made.signing_secret);
    const path = `/endpoints/${made.endpoint.id}`;
    const statuses = ['active', 'paused', 'disabled'] as const;
    return entity<StatusCall>('endpoint', name, {
      model: endpointStatus,
      draw: () => (this.#random.chance(0.6) ? { op: 'set', status: this.#random.pick(statuses) } : { op: 'read' }),
      ask: async (what) => {
        if (what.op === 'set') return this.#app().ask('PATCH', path, { status: what.status });
        return (await this.#app().ask<{ status: string }>('GET', path)).status;
      },
      end: () => this.#app().ask('DELETE', path),
    });
  }

  async #member(name: string): Promise<Entity> {
    const { id } = await this.#app().ask<{ id: string }>('POST', '/workspaces', { name });
    const body = { email: 'colleague@x.test', role: 'member' };
    const invitation = await this.#app().ask<{ id: string }>('POST', `/workspaces/${id}/invitations`, body);
    await this.#random.pick(this.#colleague).ask('POST', `/me/invitations/${invitation.id}/accept`);
    const path = `/workspaces/${id}/members/${this.#colleague_id}`;
    return entity<MemberCall>('member', name, {
      model: member,
      draw: () => {
        if (this.#random.chance(0.08)) return { op: 'remove' };
        if (this.#random.chance(0.5)) return { op: 'read' };
        return { op: 'make', role: this.#random.pick(['admin', 'member'] as const) };
      },
      ask: async (what) => {
        if (what.op === 'make') return this.#app().ask('PATCH', path, { role: what.role });
        if (what.op === 'remove') return this.#app().ask('DELETE', path);
        const { items } = await this.#app().ask<{ items: MemberView[] }>('GET', `/workspaces/${id}/members`);
        return items.find(({ account_id }) => account_id === this.#colleague_id)?.role ?? 'none';
      },
      end: () => this.#app().ask('DELETE', `/workspaces/${id}`),
    });
  }

  async #claim(name: string): Promise<Entity> {
    const { claim } = await this.#app().ask<{ claim: string }>('POST', '/devices/claims', { kind: 'owner' });
    this.#rig.secrets.set(name, claim);
    const claimants = this.#claimants;
    return entity<OnceCall>('claim', name, {
      model: setOnce,
      draw: () => ({ op: 'set', value: this.#random.below(claimants.length) }),
      ask: async (what) => {
        const device = claimants[what.op === 'set' ? what.value : 0] as DeviceClient[];
        return this.#random.pick(device).ask('POST', '/device/claims/redeem', { claim });
      },
    });
  }

  /** An account of its own, with an endpoint that gets everything. */
  async #account(name: string): Promise<Entity> {
    const email = `${name.replace(' ', '')}-${randomUUID().slice(0, 8)}@x.test`;
    const { access_token: token } = await this.#rig.signIn(email);
    const clients = this.#rig.clients(token);
    const app = () => this.#random.pick(clients);
    const path = `/${email}`;
    const { cursor } = await app().ask<{ cursor: string }>('GET', '/events?after=latest');
    const endpoint = await TestEndpoint.open(app(), this.#rig.receiver.url(path));
    this.#rig.secrets.set(`signing secret of ${email}`, endpoint.secret);
    this.witnesses.push({ email, app, endpoint, path, cursor });
    let renamed = 0;
    return entity<CounterCall>('account', name, {
      model: counter,
      draw: () => (this.#random.chance(0.6) ? { op: 'add' } : { op: 'read' }),
      ask: async (what) => {
        if (what.op === 'add') return app().ask('PATCH', '/me', { name: `${name} ${++renamed}` });
        return (await app().ask<EventPage>('GET', `/events?limit=100&after=${encodeURIComponent(cursor)}`)).items
          .length;
      },
    });
  }

  /** A native sign-in that only gets wrong codes. */
  async #signIn(name: string): Promise<Entity> {
    const begin = {
      client_id: NATIVE_CLIENT,
      response_type: 'code',
      code_challenge: randomBytes(32).toString('base64url'),
      code_challenge_method: 'S256',
      email: `${name.replace(' ', '')}-${randomUUID().slice(0, 8)}@x.test`,
    };
    const { auth_session } = await challenge(this.#random.pick(this.#rig.all), begin);
    if (auth_session === undefined) throw new Error('no auth_session');
    return entity<TryCall>('sign_in', name, {
      model: wrongTries,
      calls_max: TRIES_MAX + 3,
      draw: () => ({ op: 'try' }),
      ask: () =>
        challenge(this.#random.pick(this.#rig.all), {
          ...{ client_id: NATIVE_CLIENT, auth_session, otp: '000000' },
        }),
    });
  }

  /** How many objects were worked on, and what no order of the calls explains. */
  judge(): { judged: number; wrong: string[] } {
    const wrong: string[] = [];
    for (const { name, calls, model } of this.#all) {
      const judgement = judge(calls, model);
      if (judgement.holds !== 'yes')
        wrong.push(`${name}: ${judgement.holds}, ${judgement.why}; ${calls.map(callText).join('; ')}`);
    }
    return { judged: this.#all.length, wrong };
  }
}

/** Devices that are bound to nobody, each with a connection to each server. */
async function claimantsOf(rig: Servers): Promise<DeviceClient[][]> {
  return [(await rig.device()).devices, (await rig.device()).devices];
}

/** What was asked, from when to when in the run's own time, and the answer. */
function callText({ what, began, ended, answer }: Call): string {
  const heard = answer === null ? '?' : [answer.status, answer.code].join(' ');
  return `${JSON.stringify(what)} ${began}-${ended} ${heard}`;
}

function entity<What>(
  kind: EntityKind,
  name: string,
  parts: {
    // biome-ignore lint/suspicious/noExplicitAny: the state is the model's own matter
    model: Model<any, What>;
    draw: () => What;
    ask: (what: What) => Promise<unknown>;
    calls_max?: number;
    end?: () => Promise<unknown>;
  },
): Entity {
  return { kind, name, calls: [], calls_max: CALLS_PER_ENTITY, end: null, ...parts } as Entity;
}

/** A step of native sign-in: what the first two are answered; throws CallRefused otherwise. */
async function challenge({ base_url }: SpoolProcess, form: Record<string, string>): Promise<{ auth_session?: string }> {
  const { status, headers, body } = await call({
    method: 'POST',
    url: new URL('/oauth/authorize-challenge', base_url),
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(new URLSearchParams(form).toString()),
    signal: AbortSignal.timeout(CALL_MAX_MS),
  });
  const answer = JSON.parse(body.toString());
  if (status === 403 && answer.error === 'insufficient_authorization') return answer;
  const retry_after = headers['retry-after'];
  const retry_after_s = retry_after === undefined ? null : Number(retry_after);
  throw new CallRefused(status, answer.error, answer.error_description, retry_after_s);
}
