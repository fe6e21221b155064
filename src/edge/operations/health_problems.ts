import { PARTITIONS } from '../../domain/ids.js';
import { spanText } from '../../domain/span_text.js';
import type { AofTruncation } from '../../engine/store/aof_truncation.js';
import type { StorageState } from '../../engine/store/storage_health.js';
import type { Shedding } from '../admission/overload.js';

const SWEEP_LATE_MS = 6 * 3_600_000; // ours: a sweep that fails for longer is a health problem

/** The facts about this process from which health problems follow. */
export type HealthFacts = {
  /** `partitions_away`: those that do not answer although others do, as when a part of a Redis Cluster is away. */
  storage: StorageState & { log_healthy: boolean | null; partitions_away: number; cut: AofTruncation | null };
  shedding: Shedding;
  quarantined: number;
  /** Null while storage is away. */
  dead_letters: number | null;
  /** `circuit_open`: after repeated failures; `disabled`: after too many, within the last day. */
  endpoints: { due: number; due_ms: number; circuit_open: number; disabled: number };
  disk: { free_bytes: number; size_bytes: number } | null;
  /** The ms by which our clock is ahead of this machine's. */
  clock_ahead_ms: number;
  /** The ms by which Redis' clock is ahead of this machine's, where that is too much; 0 while they agree. */
  clocks_apart_ms: number;
  mail_healthy: boolean;
  oldest_message_ms: number;
  /** For how long some part of a retention sweep has failed; 0 while none does. */
  retention_failing_ms: number;
  /** Recordings of which stored chunks have no bytes. */
  lost_recordings: number;
  silent_devices: number;
  /** Tries to transcribe that failed since one succeeded last; null where none did. */
  transcription: FailingEngine | null;
  /** The same of tries to look into conversations. */
  insights: FailingEngine | null;
};

/** `code`, `engine`: of the last try; null where no engine had it. */
type FailingEngine = { failing_ms: number; tries: number; code: string; engine: string | null };

/** The parts of the server that problems belong to, in the order in which operators look at them. */
export const HEALTH_AREAS = [
  'redis',
  'disk',
  'processes',
  'mail',
  'transcription',
  'insights',
  'webhooks',
  'devices',
  'jobs',
] as const;
export type HealthArea = (typeof HEALTH_AREAS)[number];

/** Something that is wrong now in words, what to do about it, and the page on which one sees why. */
export type HealthProblem = {
  name: string;
  area: HealthArea;
  severity: 'grave' | 'mild';
  text: string;
  advice: string;
  link: string;
};

/** Endpoints are read every second; this late, no process gets to it. */
const DELIVERIES_LATE_MS = 30_000;
const DISK_FREE_SHARE_MIN = 0.05;
const DISK_FREE_SHARE_GRAVE = 0.01;
const CLOCK_AHEAD_MS_MAX = 5_000;
const MESSAGE_AGE_MS_MAX = 2_000;
/** A window or conversation that fails is tried again after one minute, and after four more. */
const ENGINE_FAILING_MS = 10 * 60_000;
const ENGINE_TRIES_MIN = 3;

type HealthRow = Omit<HealthProblem, 'severity' | 'text'> & {
  severity: (standing: HealthFacts) => HealthProblem['severity'] | null;
  text: (standing: HealthFacts, now_ms: number) => string;
};

/** All health problems, the worst first. */
const ROWS: readonly HealthRow[] = [
  {
    name: 'storage_away',
    area: 'redis',
    advice:
      'Look whether Redis runs and is reached at REDIS_URL: its log says why it ended. Nothing is lost; devices keep what they recorded.',
    link: '/overview#storage',
    severity: ({ storage }) => (storage.status === 'away' ? 'grave' : null),
    text: ({ storage }, now_ms) =>
      `Redis does not answer (for ${spanText(now_ms - storage.since_ms)}): whatever needs storage is answered with 503 until it is back.`,
  },
  {
    name: 'storage_refuses',
    area: 'redis',
    advice:
      'Do what its message asks for: usually more memory (maxmemory), or a disk that can hold its append-only file.',
    link: '/overview#storage',
    severity: ({ storage }) => (storage.status === 'refusing' ? 'grave' : null),
    text: ({ storage }, now_ms) =>
      `Redis takes no writes (for ${spanText(now_ms - storage.since_ms)}): whatever changes something is answered with 503. It says: ${storage.reason}`,
  },
  {
    name: 'storage_slow',
    area: 'redis',
    advice: 'Look at the load and the disk of its machine, and the network on the way to it.',
    link: '/overview#storage',
    severity: ({ storage }) => (storage.status === 'slow' ? 'mild' : null),
    text: ({ storage }, now_ms) =>
      `Redis is slow (for ${spanText(now_ms - storage.since_ms)}): a write takes over half a second.`,
  },
  {
    name: 'storage_part_away',
    area: 'redis',
    advice: 'Look at the masters of the cluster: one is away and no replica has taken its place.',
    link: '/overview#storage',
    severity: ({ storage }) => (storage.status !== 'away' && storage.partitions_away > 0 ? 'grave' : null),
    text: ({ storage }) =>
      `A part of Redis does not answer: what lives in ${storage.partitions_away} of ${PARTITIONS} partitions is answered with 503.`,
  },
  {
    name: 'storage_log',
    area: 'redis',
    advice: 'Free space on its disk, or repair the disk; its log says what failed. It then accepts changes by itself.',
    link: '/overview#storage',
    severity: ({ storage }) => (storage.log_healthy === false ? 'grave' : null),
    text: () => 'Redis could not write its append-only file, so it accepts no changes.',
  },
  {
    name: 'storage_cut',
    area: 'redis',
    advice:
      'Once: nothing, what was cut was answered to nobody. After a fault of the disk restore the last backup; see “Backups” in the guide to running it.',
    link: '/overview#storage',
    severity: ({ storage }) => (storage.cut === null ? null : 'mild'),
    text: ({ storage }, now_ms) =>
      `Redis cut ${counted(storage.cut?.bytes ?? 0, 'byte', 'bytes')} off the end of its append-only file when it started ${spanText(now_ms - (storage.cut?.at_ms ?? 0))} ago. They belong to a change that was not written to its end; after a fault of the disk changes before it may be missing as well.`,
  },
  {
    name: 'shedding_all',
    area: 'processes',
    advice: 'Give it more cores and PROCESSES, or find in Overview what sends so much.',
    link: '/overview#process',
    severity: ({ shedding }) => (shedding === 'all' ? 'grave' : null),
    text: () => 'This process is overloaded: all requests are refused except health and this port.',
  },
  {
    name: 'shedding_first',
    area: 'processes',
    advice: 'Wait if it is a peak. If it lasts, give it more cores and PROCESSES.',
    link: '/overview#process',
    severity: ({ shedding }) => (shedding === 'first' ? 'mild' : null),
    text: () => 'This process is overloaded: requests that may wait are refused.',
  },
  {
    name: 'disk_full',
    area: 'disk',
    advice: 'Make room or a larger disk; shorter retention of workspaces frees audio by itself.',
    link: '/overview#storage',
    severity: ({ disk }) => {
      const share = disk === null ? 1 : disk.free_bytes / disk.size_bytes;
      return share < DISK_FREE_SHARE_GRAVE ? 'grave' : share < DISK_FREE_SHARE_MIN ? 'mild' : null;
    },
    text: ({ disk }) =>
      `The disk of DATA_DIR is nearly full: ${Math.round((disk?.free_bytes ?? 0) / 1024 / 1024)} MB are free. When it is full, uploads and commits fail.`,
  },
  {
    name: 'quarantined',
    area: 'jobs',
    advice: 'The log says what can not be read. Repair or restore what is stored of it, then press Retry there.',
    link: '/actors#quarantined',
    severity: ({ quarantined }) => (quarantined > 0 ? 'grave' : null),
    text: ({ quarantined }) =>
      `${counted(quarantined, 'entity is', 'entities are')} quarantined: what is stored of ${quarantined === 1 ? 'it' : 'them'} can't be used, so each message to ${quarantined === 1 ? 'it' : 'them'} is answered with 500.`,
  },
  {
    name: 'dead_letters',
    area: 'jobs',
    advice: 'Fix what the log names, then press Retry there.',
    link: '/actors#dead-letters',
    severity: ({ dead_letters }) => ((dead_letters ?? 0) > 0 ? 'grave' : null),
    text: ({ dead_letters }) =>
      `${counted(dead_letters ?? 0, 'dead letter waits', 'dead letters wait')}: the decision threw five times, and nothing more is done until somebody retries.`,
  },
  {
    name: 'audio_lost',
    area: 'disk',
    advice: 'The log names the chunks. Restore the blob store from a backup.',
    link: '/overview#storage',
    severity: ({ lost_recordings }) => (lost_recordings > 0 ? 'grave' : null),
    text: ({ lost_recordings }) =>
      `Audio of ${counted(lost_recordings, 'recording', 'recordings')} is lost: stored chunks have no bytes.`,
  },
  {
    name: 'deliveries_late',
    area: 'webhooks',
    advice: 'Check whether all processes answer; if they are busy, give them more cores.',
    link: '/endpoints#due',
    severity: ({ endpoints }) => (endpoints.due > 0 && endpoints.due_ms >= DELIVERIES_LATE_MS ? 'mild' : null),
    text: ({ endpoints }) =>
      `Deliveries are late: ${counted(endpoints.due, 'endpoint is', 'endpoints are')} due and not taken up, the first for ${spanText(endpoints.due_ms)}.`,
  },
  {
    name: 'endpoints_failing',
    area: 'webhooks',
    advice:
      'Nothing on this server: tell the owners what their receivers answer, which the page of each endpoint shows.',
    link: '/endpoints#circuit_open',
    severity: ({ endpoints }) => (endpoints.circuit_open > 0 ? 'mild' : null),
    text: ({ endpoints }) =>
      `${counted(endpoints.circuit_open, 'endpoint gets', 'endpoints get')} nothing but probes: ${endpoints.circuit_open === 1 ? 'its circuit is' : 'their circuits are'} open after repeated failures.`,
  },
  {
    name: 'endpoints_disabled',
    area: 'webhooks',
    advice: 'Nothing on this server: the owners were mailed. They activate an endpoint once its receiver is fixed.',
    link: '/endpoints#disabled',
    severity: ({ endpoints }) => (endpoints.disabled > 0 ? 'mild' : null),
    text: ({ endpoints }) =>
      `${counted(endpoints.disabled, 'endpoint was', 'endpoints were')} disabled after too many failures within the last day. ${endpoints.disabled === 1 ? 'It gets' : 'They get'} nothing until the owner sets ${endpoints.disabled === 1 ? 'it' : 'them'} active.`,
  },
  {
    name: 'messages_old',
    area: 'jobs',
    advice: 'Wait a minute. If it lasts, open Actors for the busiest entities, and check Redis.',
    link: '/actors',
    severity: ({ oldest_message_ms }) => (oldest_message_ms >= MESSAGE_AGE_MS_MAX ? 'mild' : null),
    text: ({ oldest_message_ms }) => `A message has waited in a mailbox for ${spanText(oldest_message_ms)}.`,
  },
  {
    name: 'mail_failing',
    area: 'mail',
    advice: 'Look at SMTP_URL and at the log of the mail server.',
    link: '/overview#process',
    severity: ({ mail_healthy }) => (mail_healthy ? null : 'grave'),
    text: () => 'Mail can’t be sent: people who sign in by an emailed code are told to come back later.',
  },
  {
    name: 'clocks_apart',
    area: 'processes',
    advice: 'Let both machines set their clocks by NTP.',
    link: '/overview#process',
    severity: ({ clocks_apart_ms }) => (clocks_apart_ms === 0 ? null : 'grave'),
    text: ({ clocks_apart_ms }) =>
      `Redis’ clock is ${spanText(Math.abs(clocks_apart_ms))} ${clocks_apart_ms > 0 ? 'ahead of' : 'behind'} this machine’s. Everything goes by Redis’, but nothing is erased before both say so, or that much time has passed.`,
  },
  {
    name: 'clock_moved',
    area: 'processes',
    advice:
      'On a test server nothing: TEST_CLOCK moved it. Elsewhere unset TEST_CLOCK and let the machine set its clock by NTP.',
    link: '/overview#process',
    severity: ({ clock_ahead_ms }) => (Math.abs(clock_ahead_ms) > CLOCK_AHEAD_MS_MAX ? 'mild' : null),
    text: ({ clock_ahead_ms }) =>
      `The clock that everything goes by is ${spanText(Math.abs(clock_ahead_ms))} ${clock_ahead_ms > 0 ? 'ahead of' : 'behind'} this machine’s.`,
  },
  {
    name: 'transcription_failing',
    area: 'transcription',
    advice:
      'Look at the engine at TRANSCRIBE_URL, or the log of the built-in one. Recordings are kept and tried again by themselves.',
    link: '/content#failures',
    severity: ({ transcription }) => (failsForLong(transcription) ? 'mild' : null),
    text: ({ transcription }) =>
      `Nothing was transcribed for ${spanText(transcription?.failing_ms ?? 0)}: ${transcription?.tries} tries failed, the last with ${transcription?.code}. Recordings wait.`,
  },
  {
    name: 'insights_failing',
    area: 'insights',
    advice:
      'Look at the model at INSIGHTS_URL: whether it is there, as INSIGHTS_MODEL names it, and takes INSIGHTS_KEY. What no try mends the built-in engine does; “spool content reprocess STREAM --insights” has the model asked anew.',
    link: '/content#insights',
    severity: ({ insights }) => (isRefused(insights) || failsForLong(insights) ? 'mild' : null),
    text: ({ insights }) =>
      isRefused(insights)
        ? `The model ${insights?.engine ?? ''} looks into no conversation (${insights?.code}, ${counted(insights?.tries ?? 0, 'try', 'tries')}): ${REFUSED[insights?.code ?? '']}. The built-in engine does it.`
        : `No conversation was looked into by ${insights?.engine ?? 'an engine'} for ${spanText(insights?.failing_ms ?? 0)}: ${insights?.tries} tries failed, the last with ${insights?.code}. Suggestions come late, or not at all.`,
  },
  {
    name: 'retention_failing',
    area: 'jobs',
    advice: 'Look at the log for the sweep; mostly the blob store does not delete.',
    link: '/content#retention',
    severity: ({ retention_failing_ms }) => (retention_failing_ms >= SWEEP_LATE_MS ? 'mild' : null),
    text: ({ retention_failing_ms }) =>
      `A retention sweep has failed for ${spanText(retention_failing_ms)}: content that its workspace does not keep is still there.`,
  },
  {
    name: 'devices_silent',
    area: 'devices',
    advice:
      'Open Devices: it says which, and since when. Mostly they are out of the network and send later what they keep.',
    link: '/devices',
    severity: ({ silent_devices }) => (silent_devices > 0 ? 'mild' : null),
    text: ({ silent_devices }) =>
      `${counted(silent_devices, 'device has', 'devices have')} a recording open and uploaded nothing for ten minutes.`,
  },
];

/** The present health problems, the worst first. */
export function healthProblemsOf(standing: HealthFacts, now_ms: number): HealthProblem[] {
  const found = ROWS.flatMap(({ name, area, advice, link, severity, text }): HealthProblem[] => {
    const is = severity(standing);
    return is === null ? [] : [{ name, area, advice, link, severity: is, text: text(standing, now_ms) }];
  });
  return found.sort((a, b) => Number(b.severity === 'grave') - Number(a.severity === 'grave'));
}

/** The failures that no further try mends, and what they say of the model. */
const REFUSED: Readonly<Record<string, string>> = {
  ENGINE_MODEL_MISSING: 'its server has no such model',
  ENGINE_REFUSED: 'its server refuses what is asked',
  ENGINE_CONTEXT_TOO_SMALL: 'it has no room for what was said',
};

function isRefused(engine: FailingEngine | null): boolean {
  return engine !== null && Object.hasOwn(REFUSED, engine.code);
}

function failsForLong(engine: HealthFacts['transcription']): boolean {
  return engine !== null && engine.failing_ms >= ENGINE_FAILING_MS && engine.tries >= ENGINE_TRIES_MIN;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
