import { clusterChanges, contractOnCluster } from './cluster_faults.js';
import { connectionsStall, descriptorsUsedUp } from './connection_faults.js';
import { diskFails, filesCut } from './disk_faults.js';
import { engineOdd } from './engine_faults.js';
import { floods } from './flood_faults.js';
import { childHangs, frozen, killedAmongTells, killedAtCommits, manyWriters } from './process_faults.js';
import { snapshotsSpoilt } from './state_faults.js';
import {
  clockAhead,
  clockJumps,
  functionsLost,
  redisHangs,
  redisKilled,
  redisUnreachable,
  storageLost,
} from './storage_faults.js';
import type { Trial } from './trial.js';
import { uploadsSpoilt } from './upload_faults.js';

/**
 * A fault that the server is to survive: how it is tried under load with histories, and which test files hold its
 * smallest form or steps of their own. Those run along.
 */
export type Fault = {
  number: number | null;
  name: string;
  what: string;
  tests: readonly string[];
  run?: (trial: Trial) => Promise<void>;
};

export const FAULTS: readonly Fault[] = [
  {
    ...{ number: 1, name: 'killed', what: 'server killed between commit and answer; answer swallowed' },
    tests: [
      'scenarios/oauth_kills',
      'scenarios/session_kills',
      'engine/runtime/lost_replies',
      'engine/runtime/crashes',
    ],
    run: killedAtCommits,
  },
  {
    ...{ number: 2, name: 'redis_killed', what: 'Redis killed under load' },
    tests: ['server/redis_away', 'engine/runtime/redis_outage'],
    run: redisKilled,
  },
  { ...{ number: 3, name: 'file_cut', what: 'append-only file cut at any byte' }, tests: [], run: filesCut },
  {
    ...{ number: 4, name: 'disk', what: 'disk full, fsync error, spoilt file' },
    tests: ['faults/disk_full', 'engine/process/redis_rewrite'],
    run: diskFails,
  },
  {
    ...{ number: 5, name: 'writers', what: 'many writers on one entity, two processes' },
    tests: ['scenarios/stream_races', 'engine/runtime/two_processes'],
    run: manyWriters,
  },
  {
    ...{ number: 6, name: 'frozen', what: 'process frozen beyond its leases' },
    tests: ['server/webhook_two_processes', 'scenarios/oauth_races'],
    run: frozen,
  },
  {
    ...{ number: 7, name: 'redis_away', what: 'Redis unreachable, or slow' },
    tests: ['server/oauth_redis_away', 'server/webhook_redis_away'],
    run: redisUnreachable,
  },
  {
    ...{ number: 8, name: 'storage_lost', what: 'Redis comes back empty or rolled back' },
    tests: ['engine/runtime/storage_back_in_time', 'server/storage_lost'],
    run: storageLost,
  },
  {
    ...{ number: 9, name: 'clock', what: 'clock jumps an hour either way' },
    tests: ['engine/time/clock'],
    run: clockJumps,
  },
  {
    ...{ number: 10, name: 'flood', what: 'thousands of commands to one account; 4 MB of signals' },
    tests: ['engine/runtime/mailbox', 'routes/overload'],
    run: floods,
  },
  {
    ...{ number: 11, name: 'snapshots', what: 'decide throws; snapshot unreadable or newer' },
    tests: ['engine/runtime/poison', 'engine/runtime/quarantined'],
    run: snapshotsSpoilt,
  },
  {
    ...{ number: 12, name: 'outbox', what: 'sender or receiver of an outbox message killed' },
    tests: ['scenarios/workspace_kills', 'scenarios/webhook_kills', 'engine/runtime/outbox'],
    run: killedAmongTells,
  },
  {
    ...{ number: 13, name: 'receivers', what: 'webhook target hangs, drips, floods, redirects, resets' },
    tests: [
      'features/webhooks/misbehaving',
      'features/webhooks/isolation',
      'features/webhooks/addresses',
      'features/webhooks/connections',
    ],
  },
  {
    ...{ number: 14, name: 'tenth_failure', what: 'tenth failure races others' },
    tests: ['routes/api/endpoint_races'],
  },
  {
    ...{ number: 15, name: 'uploads', what: 'upload cut, repeated at once, wrong size or hash' },
    tests: ['routes/api/devices'],
    run: uploadsSpoilt,
  },
  { ...{ number: 16, name: 'blobs', what: 'killed between rename and commit' }, tests: ['scenarios/audio_kills'] },
  {
    ...{ number: 17, name: 'functions', what: 'function library lost' },
    tests: ['engine/store/function_library'],
    run: functionsLost,
  },
  {
    ...{ number: 18, name: 'stalls', what: 'connections that stand still in every state, on every port' },
    tests: ['server/stalled_connections', 'edge/admission/handshake_limiter'],
    run: connectionsStall,
  },
  {
    ...{ number: 19, name: 'descriptors', what: 'no file can be opened any more (limits 200 and 1,024)' },
    tests: ['server/descriptors', 'edge/admission/descriptor_limits'],
    run: descriptorsUsedUp,
  },
  {
    ...{ number: 20, name: 'redis_hangs', what: 'Redis hangs, takes no writes, is slow' },
    tests: ['server/storage_health'],
    run: redisHangs,
  },
  {
    ...{ number: 21, name: 'versions', what: 'this and another revision side by side' },
    tests: ['engine/runtime/quarantined'],
  },
  {
    ...{ number: 22, name: 'clock_ahead', what: 'the clock of Redis is days ahead while a process starts' },
    tests: ['server/clocks_disagree'],
    run: clockAhead,
  },
  {
    ...{ number: 26, name: 'child_hangs', what: 'one of several processes hangs, and clients give up' },
    tests: ['host/primary/hanging'],
    run: childHangs,
  },
  {
    ...{ number: 27, name: 'engine', what: 'a file that an engine cannot read; an answer of another form; odd times' },
    tests: [
      'server/unreadable_files',
      'features/transcripts/transcribe_window',
      'features/transcripts/engines/openai_compatible',
    ],
    run: engineOdd,
  },
  {
    ...{ number: 28, name: 'host_leaves', what: 'the host leaves, or the workspace goes, while a recorder uploads' },
    tests: ['routes/api/shared_streams'],
  },
  {
    ...{ number: null, name: 'cluster', what: 'Redis Cluster: slots move, a failover loses writes' },
    tests: ['engine/store/cluster'],
    run: clusterChanges,
  },
  {
    ...{ number: null, name: 'contract', what: 'tests of runtime, store and two processes on a Redis Cluster' },
    tests: [],
    run: contractOnCluster,
  },
];
