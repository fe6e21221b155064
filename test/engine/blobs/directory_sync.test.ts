import t from 'tap';
import { DirectorySync } from '../../../src/engine/blobs/directory_sync.js';

/** Syncs that end when the test says. */
function setUp() {
  const runs: { directory: string; end(): void; fail(): void }[] = [];
  const directory_sync = new DirectorySync(
    (directory) =>
      new Promise((resolve, reject) => runs.push({ directory, end: resolve, fail: () => reject(new Error('EIO')) })),
  );
  const ended: string[] = [];
  const ask = (who: string, directory = '/a') =>
    directory_sync.sync(directory).then(
      () => void ended.push(who),
      () => void ended.push(`${who} failed`),
    );
  return { runs, ended, ask };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

t.test('who comes while a sync runs waits for the next, which all of them share', async (t) => {
  const { runs, ended, ask } = setUp();
  const asked = [ask('first'), ask('second'), ask('third')];
  await turn();
  t.equal(runs.length, 1);
  runs[0]?.end();
  await turn();
  t.strictSame(ended, ['first']);
  t.equal(runs.length, 2);
  asked.push(ask('fourth'));
  runs[1]?.end();
  await turn();
  t.strictSame(ended, ['first', 'second', 'third']);
  runs[2]?.end();
  await Promise.all(asked);
  asked.push(ask('fifth'));
  await turn();
  t.equal(runs.length, 4);
  runs[3]?.end();
  await Promise.all(asked);
});

t.test('directories do not wait for each other', async (t) => {
  const { runs, ended, ask } = setUp();
  const asked = [ask('a', '/a'), ask('b', '/b')];
  t.strictSame(
    runs.map(({ directory }) => directory),
    ['/a', '/b'],
  );
  runs[1]?.end();
  await turn();
  t.strictSame(ended, ['b']);
  runs[0]?.end();
  await Promise.all(asked);
});

t.test('a sync that fails fails those it was for, and the next is tried', async (t) => {
  const { runs, ended, ask } = setUp();
  const asked = [ask('first'), ask('second')];
  runs[0]?.fail();
  await turn();
  t.strictSame(ended, ['first failed']);
  runs[1]?.end();
  await Promise.all(asked);
  t.strictSame(ended, ['first failed', 'second']);
});
