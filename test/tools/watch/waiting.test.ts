import t from 'tap';
import { CallRefused, NoAnswer } from '../../../kits/typescript/src/call.js';
import { Waiting } from '../../../tools/watch/waiting.js';

function waiting(give_up_ms: number | null = null) {
  const said: string[] = [];
  const stop = new AbortController();
  let now_ms = 1_000_000;
  const rest = async (ms: number) => {
    now_ms += ms;
  };
  const options = { say: (text: string) => said.push(text), signal: stop.signal, give_up_ms, now: () => now_ms, rest };
  return { waits: new Waiting(options), said, stop, at: () => now_ms };
}

const away = () => new NoAnswer({ code: 'ECONNREFUSED' });

t.test('K-423 work waits for hours while the server is away, and says each minute for what', async (t) => {
  const { waits, said, at } = waiting();
  const end_ms = at() + 3_600_000;
  const done = await waits.until(async () => {
    if (at() < end_ms) throw away();
    return 'done';
  });
  t.equal(done, 'done');
  t.equal(said.at(-1), 'going on');
  t.equal(new Set(said.slice(0, -1)).size, 1);
  t.ok(said.length > 30 && said.length < 62, `${said.length} lines in an hour`);
});

t.test('K-423 refusals that pass are waited for, and others are not', async (t) => {
  for (const [status, too_much, passes] of [
    [429, [], true],
    [503, [], true],
    [409, [409], true],
    [409, [], false],
    [403, [409], false],
  ] as const) {
    const { waits } = waiting();
    let tries = 0;
    const work = async () => {
      tries += 1;
      if (tries === 1) throw new CallRefused(status, 'X', 'x', null);
      return tries;
    };
    if (passes) t.equal(await waits.until(work, { too_much }), 2, `${status}`);
    else await t.rejects(waits.until(work, { too_much }), new RegExp(`${status} X`));
  }
});

t.test('K-423 a single run gives up after a while', async (t) => {
  const { waits } = waiting(600_000);
  await t.rejects(
    waits.until(() => Promise.reject(away())),
    /Given up for now: .*ECONNREFUSED/,
  );
});
