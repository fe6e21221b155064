import t from 'tap';
import { rewriteAppendOnlyFile } from '../../../src/engine/process/redis_rewrite.js';

/** A Redis that tells these things about its rewrites, one after the other, the last for ever. */
function redisTelling(infos: string[], refusal?: string) {
  const asked: string[] = [];
  const redis = {
    info: async () => {
      asked.push('info');
      return (infos.length > 1 ? infos.shift() : infos[0]) ?? '';
    },
    bgrewriteaof: async () => {
      asked.push('rewrite');
      if (refusal !== undefined) throw new Error(refusal);
      return 'Background append only file rewriting started';
    },
  };
  return { redis: redis as unknown as Parameters<typeof rewriteAppendOnlyFile>[0], asked };
}

const UNDER_WAY = 'aof_rewrite_in_progress:1\r\naof_rewrite_scheduled:0\r\n';
const SCHEDULED = 'aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:1\r\n';
const OK = 'aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\naof_last_bgrewrite_status:ok\r\n';
const FAILED = 'aof_rewrite_in_progress:0\r\naof_rewrite_scheduled:0\r\naof_last_bgrewrite_status:err\r\n';

t.test('rewriting the append-only file', async (t) => {
  const warned: unknown[] = [];
  const log = { warn: (what: unknown) => void warned.push(what) };
  const going = { log, stopped: () => false };

  await t.test('waits for one that began before, and then for its own', async (t) => {
    const { redis, asked } = redisTelling([UNDER_WAY, FAILED, SCHEDULED, UNDER_WAY, OK]);
    t.equal(await rewriteAppendOnlyFile(redis, going), true);
    t.same(asked, ['info', 'info', 'rewrite', 'info', 'info', 'info']);
  });

  await t.test('one that failed, as on a full disk, is no success', async (t) => {
    await t.rejects(rewriteAppendOnlyFile(redisTelling([OK, UNDER_WAY, FAILED]).redis, going), /could not rewrite/);
  });

  await t.test('is given up when the server stops, which waits for nothing', async (t) => {
    const stopping = { log, stopped: () => true };
    t.equal(await rewriteAppendOnlyFile(redisTelling([UNDER_WAY]).redis, stopping), false);
    t.equal(await rewriteAppendOnlyFile(redisTelling([OK, UNDER_WAY]).redis, stopping), false);
  });

  await t.test('a Redis that refuses the command is told of', async (t) => {
    t.equal(await rewriteAppendOnlyFile(redisTelling([OK], 'ERR unknown command').redis, going), true);
    t.match(warned, [{ reason: 'ERR unknown command' }]);
  });
});
