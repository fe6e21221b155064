import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type DeviceClient,
  type DeviceCredentials,
  type IntentView,
  sha256Of,
} from '../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../src/domain/limits.js';
import { nextSweepAt } from '../../src/domain/retention.js';
import { type Answer, answerOf } from '../driver/history.js';
import type { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import type { AppClient } from '../fixtures/app_client.js';
import { ARRIVED } from '../fixtures/stored_audio.js';
import { until } from '../fixtures/until.js';
import { ENTITY_KINDS, Load } from './load.js';
import type { Trial } from './trial.js';

/** Fault 21: processes of this build and of another revision side by side, on one Redis, keys and audio. */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TRIES_MAX = 40;
const AGAIN_MS = 250;
const PAUSE_MS = 20;
const CHUNK_MS = 5_000;
const SWEPT_MAX_MS = 30_000;
const SIGNALS = [1, 2, 3].map((at) => ({ ref: `s${at}`, type: 'a.b', start_ms: at, payload: { at } }));
const QUARANTINED = /"msg":"(entity parked|entity quarantined|a decision threw|request failed)[^\n]*/g;

/** Another revision, built in a folder of its own; packages are this checkout's. */
export class OtherBuild {
  readonly folder = mkdtempSync(join(tmpdir(), 'spool-version-'));
  readonly main = join(this.folder, 'dist', 'src', 'main.js');

  constructor(revision: string) {
    try {
      const files = join(this.folder, 'files.tar');
      writeFileSync(files, execFileSync('git', ['archive', revision], { cwd: ROOT, maxBuffer: 2 ** 30 }));
      execFileSync('tar', ['-xf', files, '-C', this.folder]);
      symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
      const build = "import('./tools/setup.mjs').then(({ ensureBuilt }) => ensureBuilt())";
      execFileSync(process.execPath, ['-e', build], { cwd: this.folder, stdio: ['ignore', 'ignore', 'inherit'] });
    } catch (error) {
      this.remove();
      throw error;
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** `mains`: what runs, in the order of starting; null is the build at hand. The last one comes when others have written. */
export async function versionsSideBySide(trial: Trial, mains: readonly (string | null)[]): Promise<void> {
  const rig = await trial.open({ mains: mains.slice(0, -1) });
  const early = await Crossing.open(rig, trial, 'early');
  for (let n = 0; n < 3; n++) await early.step();
  await rig.add({ main: mains.at(-1) ?? null });
  await early.reach();
  const late = await Crossing.open(rig, trial, 'late');
  for (const one of [early, late]) await one.sweep();
  for (const one of [early, late]) await one.signIn();
  const load = await Load.open(rig, trial.random);
  let is_over = false;
  const crossing = [early, late].map(async (one) => {
    while (!is_over) {
      await one.step();
      await pause(PAUSE_MS);
    }
  });
  try {
    await load.run(
      trial.repeat(() => trial.between(100, 200)),
      { kinds: ENTITY_KINDS },
    );
  } finally {
    is_over = true;
    await Promise.all(crossing);
  }
  for (const one of [early, late]) await one.check();
  // Once more with those that were there first started anew, as when a release is taken back.
  await rig.first.restart();
  for (const one of [early, late]) await one.reach();
  for (const one of [early, late]) await one.check();
  await trial.settle(rig, load, { kinds: ENTITY_KINDS });
  for (const [n, { output }] of rig.all.entries())
    trial.none(`log of server ${n + 1}`, [...(output.match(QUARANTINED) ?? [])].slice(0, 3));
}

/** One account, whose every call goes to another server than the call before: what it was told must be there. */
class Crossing {
  readonly #rig: Servers;
  readonly #trial: Trial;
  readonly #email: string;
  #token = '';
  #apps: AppClient[] = [];
  #devices: DeviceClient[] = [];
  #credentials: DeviceCredentials | null = null;
  #epoch = '';
  #name = '';
  #stream: { ref: string; sequence: number } | null = null;
  readonly #stored: string[] = [];
  #steps = 0;

  private constructor(rig: Servers, trial: Trial, email: string) {
    this.#rig = rig;
    this.#trial = trial;
    this.#email = email;
  }

  static async open(rig: Servers, trial: Trial, name: string): Promise<Crossing> {
    const crossing = new Crossing(rig, trial, `${name}@x.test`);
    await crossing.signIn();
    const bound = await rig.boundDevice(crossing.#apps[0] as AppClient);
    crossing.#devices = bound.devices;
    crossing.#credentials = bound.credentials;
    crossing.#epoch = bound.epoch;
    return crossing;
  }

  async signIn(): Promise<void> {
    // Who learned of the time a little later would issue what has run out for the others.
    for (const server of this.#rig.all) await server.operator().advanceClock(0);
    this.#token = (await this.#rig.signIn(this.#email)).access_token;
    this.#apps = this.#rig.clients(this.#token);
  }

  /**
   * What only this build knows, asked of it alone: contacts, a deleted recording, and retention. Messages and jobs that
   * come of it the other process finds as well, and must leave.
   */
  async sweep(): Promise<void> {
    const [app] = this.#rig.clients(this.#token, this.#rig.at_hand) as [AppClient];
    const operator = (this.#rig.at_hand[0] as SpoolProcess).operator();
    const stream = async (): Promise<string> => {
      const recording = { source_id: source?.id, captured_at: '2026-01-01T12:00:00Z' };
      return ((await this.#try('stream', () => app.ask('POST', '/audio/streams', recording))) as { id: string }).id;
    };
    await this.#try('contact', () => app.ask('POST', '/contacts', { name: 'Ann' }));
    const source = (await this.#try('source', () => app.ask('POST', '/sources', { name: 'Desk' }))) as { id: string };
    const [kept, gone] = [await stream(), await stream()];
    for (const id of [kept, gone])
      await this.#try('signals', () => app.ask('POST', `/audio/streams/${id}/signals`, { signals: SIGNALS }));
    await this.#try('deletion', () => app.ask('DELETE', `/audio/streams/${gone}`));
    const me = (await this.#try('view', () => app.ask('GET', '/me'))) as { workspaces: { id: string }[] };
    const workspace_id = (me.workspaces[0] as { id: string }).id;
    const retention = { transcripts: { days: 0 } };
    await this.#try('retention', () => app.ask('PATCH', `/workspaces/${workspace_id}`, { retention }));
    const { now } = await operator.advanceClock(0);
    const now_ms = Date.parse(now);
    await operator.advanceClock(nextSweepAt(workspace_id, now_ms) - now_ms + 1_000);
    await this.signIn(); // an hour may have gone by
    const [later] = this.#rig.clients(this.#token, this.#rig.at_hand) as [AppClient];
    const swept = async () => {
      const path = '/events?type=workspace.retention_applied';
      const { items } = await later.ask<{ items: { data: { buckets: object } }[] }>('GET', path);
      return items.map(({ data }) => JSON.stringify(data.buckets));
    };
    await until(
      'it is swept',
      async () => {
        if ((await swept()).length > 0) return true;
        await operator.advanceClock(LIMITS.delivery_lease_ms + 1_000); // a worker that took it may have left it
        await pause(AGAIN_MS);
        return false;
      },
      SWEPT_MAX_MS,
    ).catch((error: Error) => this.#trial.must(false, `${this.#email}: ${error.message}`));
    const [first = '', ...others] = await swept();
    const is_right = others.length === 0 && first.includes(`"count":${SIGNALS.length}}`);
    this.#trial.must(is_right, `${this.#email}: swept ${[first, ...others]}`);
  }

  /** Goes to all servers as they run now. */
  async reach(): Promise<void> {
    this.#apps = this.#rig.clients(this.#token);
    this.#devices = this.#rig.devicesOf(this.#credentials as DeviceCredentials);
  }

  /** One round of all that an account and its recorder do. */
  async step(): Promise<void> {
    this.#steps += 1;
    if (this.#steps % 10 === 1) await this.#signIn();
    const name = `${this.#email} ${this.#steps}`;
    await this.#try('rename', () => this.#app(0).ask('PATCH', '/me', { name }));
    this.#name = name;
    const me = (await this.#try('view', () => this.#app(1).ask('GET', '/me'))) as { name: string } | null;
    this.#trial.must(me?.name === name, `${this.#email}: what one wrote the other reads: ${me?.name}`);
    await this.#record();
  }

  /** A code that one process mails is good at another. */
  async #signIn(): Promise<void> {
    const email = `${this.#email.split('@')[0]}-${this.#steps}@x.test`;
    const [at, other] = [this.#app(0), this.#app(1)];
    await this.#try('code', () => at.ask('POST', '/auth/otp', { email }));
    const token = await this.#rig.operator.readCode(email);
    await this.#try('sign-in', () => other.ask('POST', '/auth/verify-otp', { email, token }));
  }

  async #record(): Promise<void> {
    const epoch = { binding_epoch: this.#epoch };
    if (this.#stream === null || this.#stream.sequence >= 8) {
      this.#stream = { ref: randomUUID(), sequence: 0 };
      const stream = { source_stream_ref: this.#stream.ref, captured_at: '2026-01-01T12:00:00Z' };
      await this.#try('stream', () =>
        this.#device(0).ask('POST', '/device/streams', { ...epoch, ...stream, clock_uncertainty_ms: 5 }),
      );
    }
    const { ref, sequence } = this.#stream;
    this.#stream.sequence += 1;
    const bytes = randomBytes(2_000);
    const source_start_ms = sequence * CHUNK_MS;
    const intent = (await this.#try('intent', () =>
      this.#device(1).ask('POST', '/device/chunks/intents', {
        ...{ ...epoch, source_stream_ref: ref, source_chunk_ref: randomUUID(), sequence, source_start_ms },
        ...{ source_end_ms: source_start_ms + CHUNK_MS, publication_start_ms: source_start_ms },
        ...{ codec: 'opus', container: 'ogg', size_bytes: bytes.length, sha256: sha256Of(bytes) },
      }),
    )) as IntentView | null;
    if (intent === null) return;
    await this.#try('upload', () => this.#device(this.#steps).upload(intent.upload_path, bytes));
    this.#stored.push(intent.chunk_id);
  }

  /** Everything that was acknowledged is there, whoever is asked. */
  async check(): Promise<void> {
    for (const [n] of this.#rig.all.entries()) {
      const me = (await this.#try('view', () => this.#app(n).ask('GET', '/me'))) as { name: string } | null;
      this.#trial.must(me?.name === this.#name, `server ${n + 1} knows the last name of ${this.#email}`);
      for (const chunk_id of this.#stored) {
        const path = `/device/chunks/${chunk_id}`;
        const chunk = (await this.#try('chunk', () => this.#device(n).ask('GET', path))) as { status: string } | null;
        this.#trial.must(ARRIVED.has(chunk?.status ?? ''), `server ${n + 1} has chunk ${chunk_id} as ${chunk?.status}`);
      }
    }
  }

  /** The server after the one of this step. */
  #app(ahead: number): AppClient {
    return this.#apps[(this.#steps + ahead) % this.#apps.length] as AppClient;
  }

  #device(ahead: number): DeviceClient {
    return this.#devices[(this.#steps + ahead) % this.#devices.length] as DeviceClient;
  }

  /** What says 503 is asked again, as its callers do; anything else that fails is a problem. */
  async #try(what: string, ask: () => Promise<unknown>): Promise<unknown> {
    let answer: Answer | null = null;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      answer = await answerOf(ask());
      if (answer.status === 200) {
        this.#trial.counts.ok += 1;
        return answer.data;
      }
      if (answer.status !== 503 && answer.status !== 0) break;
      this.#trial.counts.refused += 1;
      await pause(AGAIN_MS);
    }
    this.#trial.must(false, `${what} of ${this.#email}: ${answer?.status} ${answer?.code}`);
    return null;
  }
}
