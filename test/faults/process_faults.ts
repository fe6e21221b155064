import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { LIMITS } from '../../src/domain/limits.js';
import type { Servers } from '../driver/servers.js';
import type { SpoolProcess } from '../driver/spool_process.js';
import { until } from '../fixtures/until.js';
import { ENTITY_KINDS, type EntityKind, Load } from './load.js';
import { didEnough, type Trial } from './trial.js';

/** Faults 1, 5, 6, 12 and 26: processes killed, frozen, and many at one thing. */

/** The commit at which a process is killed is one of so many to come. */
const COMMITS_AHEAD = 60;
const REACHED_MAX_MS = 5_000;
/** Starting again takes most of the time. */
const LEAST_WHILE_KILLED = 40;
const FROZEN_MS = 2_500;
const PROCESSES = 2;
/** For a process that is found to hang, killed, and started anew. */
const REPLACED_MAX_MS = 60_000;
/** Clients that ask and leave while a process hangs: more than one network may have connections at once. */
const CLIENTS_GIVING_UP = 100;
const CONNECTIONS_PER_NETWORK = 60;
/** Conflicts of a commit that is decided again are bounded by the runtime; so many on the average are a storm. */
const CONFLICTS_PER_CALL_MAX = 12;

/** Kinds whose calls send other entities outbox messages. */
const TELLING: readonly EntityKind[] = ['member', 'claim', 'account'];

/**
 * Kills a server at a commit: before Redis has it, or after, before the answer is out. Every third time only the answer is
 * lost: then the server sends the same commit again, which it must see to have been applied already.
 */
async function killAtCommit(trial: Trial, rig: Servers): Promise<void> {
  const { random } = trial;
  const nth = 1 + random.below(COMMITS_AHEAD);
  const survives = trial.tries % 3 === 2;
  /** How many commits Redis had already when they came to it, by this process' count. */
  const repeated = () => rig.first.metric('spool_commits_total\\{verdict="repeated"\\}');
  const was_repeated = survives ? await repeated() : 0;
  const what = survives || random.chance(0.7) ? 'reply' : 'request';
  const fault = rig.loseCommit(nth, { what, survives });
  await fault.wait(REACHED_MAX_MS);
  fault.cancel();
  if (!fault.is_over()) return;
  if (!survives) return rig.restart();
  const is_seen = await until('it is seen', async () => (await repeated()) > was_repeated, REACHED_MAX_MS).then(
    () => true,
    () => false,
  );
  trial.must(is_seen, 'a commit whose answer was lost was not recognised when it came again');
}

async function killed(trial: Trial, kinds: readonly EntityKind[]): Promise<void> {
  const must = { kinds, least: LEAST_WHILE_KILLED };
  const rig = await trial.open();
  const load = await Load.open(rig, trial.random);
  await load.run(
    trial.repeat(
      () => killAtCommit(trial, rig),
      () => didEnough(load, must),
    ),
    { kinds },
  );
  await trial.settle(rig, load, must);
}

/** Fault 1. */
export const killedAtCommits = (trial: Trial) => killed(trial, ENTITY_KINDS);

/** Fault 12: the outbox messages of what was under way are applied once, as the equalities and the members of workspaces tell. */
export const killedAmongTells = (trial: Trial) => killed(trial, TELLING);

/** Fault 5: two processes and many callers at few objects. */
export async function manyWriters(trial: Trial): Promise<void> {
  const rig = await trial.open({ count: 2 });
  const load = await Load.open(rig, trial.random);
  await load.run(pause(trial.size.seconds * 1_000), { callers: 16 });
  let conflicts = 0;
  for (const server of rig.all) conflicts += await server.metric('spool_commit_conflicts_total');
  trial.tries = load.witnesses.length;
  const { ok } = load.counts;
  trial.notes.push(`${conflicts} conflicts for ${ok} successes`);
  trial.must(conflicts > 0 && conflicts <= ok * CONFLICTS_PER_CALL_MAX, `${conflicts} conflicts for ${ok} successes`);
  await trial.settle(rig, load, { kinds: ENTITY_KINDS });
}

/** Fault 6: one of two processes stands still for longer than its leases hold, and goes on. */
export async function frozen(trial: Trial): Promise<void> {
  const rig = await trial.open({ count: 2 });
  const [, second] = rig.all as [SpoolProcess, SpoolProcess];
  const load = await Load.open(rig, trial.random);
  const freeze = async () => {
    await trial.between(300, 1_500);
    second.signal('SIGSTOP');
    const advanced = rig.operator.advanceClock(LIMITS.delivery_lease_ms + 1_000).catch(() => {});
    await pause(FROZEN_MS);
    second.signal('SIGCONT');
    await advanced;
  };
  await load.run(trial.repeat(freeze));
  await trial.settle(rig, load, { kinds: ENTITY_KINDS });
}

/**
 * Fault 26: one of the processes behind the same ports hangs, while clients ask and give up. Somebody serves all the while,
 * `/readyz` names it, another takes its place, and no client's place is lost.
 */
export async function childHangs(trial: Trial): Promise<void> {
  const env = { PROCESSES: String(PROCESSES), CONNECTIONS_PER_NETWORK: String(CONNECTIONS_PER_NETWORK) };
  const rig = await trial.open({ env });
  const server = rig.first;
  try {
    const load = await Load.open(rig, trial.random);
    const hang = async () => {
      await trial.between(100, 1_000);
      const pid = trial.random.pick(server.childrenNow());
      process.kill(pid, 'SIGSTOP');
      for (let nth = 0; nth < CLIENTS_GIVING_UP; nth++) await askAndLeave(server);
      const is_named = () => namesTroubled(server, pid);
      await until('the one that hangs is named', is_named, REPLACED_MAX_MS).catch((error: Error) =>
        trial.problems.push(error.message),
      );
      await until('all serve again', () => allAnswer(server), REPLACED_MAX_MS);
      trial.must(!server.childrenNow().includes(pid), `process ${pid} hung and was not replaced`);
    };
    await load.run(trial.repeat(hang));
    await trial.settle(rig, load, { kinds: ENTITY_KINDS, least: LEAST_WHILE_KILLED });
  } finally {
    for (const pid of server.childrenNow()) process.kill(pid, 'SIGCONT');
  }
}

/** Sends a request on a connection of its own and closes it before an answer. */
function askAndLeave({ base_url }: SpoolProcess): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(base_url).port), '127.0.0.1');
    socket.on('error', () => {}).on('close', () => resolve());
    socket.write('GET /me HTTP/1.1\r\nHost: x\r\n\r\n', () => socket.destroy());
  });
}

const ownConnection = { headers: { connection: 'close' } };

async function namesTroubled({ operator_url }: SpoolProcess, pid: number): Promise<boolean> {
  const answer = await fetch(`${operator_url}/readyz`, ownConnection);
  const { troubled_processes = [] } = (await answer.json()) as { troubled_processes?: { pid: number }[] };
  return answer.status === 200 && troubled_processes.some((one) => one.pid === pid);
}

async function allAnswer({ operator_url }: SpoolProcess): Promise<boolean> {
  const text = await (await fetch(`${operator_url}/metrics`, ownConnection)).text();
  return text.match(/^spool_process_answers\{process="\d+"\} 1$/gm)?.length === PROCESSES;
}
