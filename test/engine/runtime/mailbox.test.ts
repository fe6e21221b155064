import t from 'tap';
import { isRefusal } from '../../../src/domain/refusals.js';
import { MAILBOX_MAX } from '../../../src/engine/runtime/activation.js';
import { ledgerOf } from '../../fixtures/ledger.js';
import { TestRedis } from '../../fixtures/redis.js';
import { ServerProcess } from '../../fixtures/server_process.js';

const TOO_MANY = 20_000;

t.test('a full mailbox', async (t) => {
  const server = await new TestRedis().start();
  t.teardown(() => server.stop());
  const process = await ServerProcess.open(t, { socket_path: server.socket_path });
  const address = ledgerOf(1);
  const other = ledgerOf(1);
  const order: number[] = [];
  const asks = Array.from({ length: MAILBOX_MAX + TOO_MANY }, async () => {
    const reply = await process.ask(address, { type: 'add', by: 1 });
    if (typeof reply === 'number') order.push(reply);
    return reply;
  });
  t.equal(process.runtime.inspect(0).kinds.ledger?.waiting, MAILBOX_MAX, 'no more are kept');
  t.equal(await process.ask(other, { type: 'add', by: 1 }), 1, 'another entity works');
  const replies = await Promise.all(asks);
  const refused = replies.filter(isRefusal);
  t.equal(refused.length, TOO_MANY);
  for (const refusal of refused) {
    if (refusal.refused !== 'UNAVAILABLE' || !refusal.retry_after_s) t.fail(`refused with ${JSON.stringify(refusal)}`);
  }
  t.same(replies.slice(MAILBOX_MAX).filter(isRefusal).length, TOO_MANY, 'the last ones');
  const all = Array.from({ length: MAILBOX_MAX }, (_, i) => i + 1);
  t.same(replies.slice(0, MAILBOX_MAX), all, 'the accepted ones are decided in order');
  t.same(order, all, 'and answered in order');
  t.equal(process.runtime.inspect(0).kinds.ledger?.waiting, 0);
  t.equal(await process.ask(address, { type: 'add', by: 1 }), MAILBOX_MAX + 1);
});
