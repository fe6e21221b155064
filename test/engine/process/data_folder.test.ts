import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DataFolderHeld, holdDataFolder } from '../../../src/engine/process/data_folder.js';
import { tempFolder } from '../../fixtures/temp_folder.js';
import { start } from './starter.js';

t.test('one holds, the next is refused with who and since when, and gets it after the release', async (t) => {
  const folder = join(tempFolder(t), 'made', 'on demand');
  const before = new Date().toISOString();
  const held = await holdDataFolder(folder);
  const refused = await holdDataFolder(folder).catch((error: unknown) => error);
  t.type(refused, DataFolderHeld);
  if (refused instanceof DataFolderHeld) {
    t.equal(refused.pid, process.pid);
    t.ok(refused.since && refused.since >= before && refused.since <= new Date().toISOString());
    t.match(refused.message, `is in use by process ${process.pid}, since ${refused.since}`);
  }
  await held.release();
  await held.release();
  const again = await holdDataFolder(folder);
  t.same(readdirSync(folder), ['lock.2'], 'older generations are cleaned up');
  await again.release();
});

t.test('a folder is the same under another name, and may have a very long one', async (t) => {
  const root = tempFolder(t);
  const folder = join(root, ...Array.from({ length: 10 }, () => 'a long name for a folder'));
  const held = await holdDataFolder(folder);
  symlinkSync(folder, join(root, 'link'));
  await t.rejects(holdDataFolder(join(root, 'link')), DataFolderHeld);
  await held.release();
});

t.test('a copy without sockets and leftovers of killed starters are no holders', async (t) => {
  const folder = tempFolder(t);
  mkdirSync(join(folder, 'lock.7'));
  writeFileSync(join(folder, 'lock.7', 'holder.json'), '{"pid":1,"since":"2020-01-01T00:00:00.000Z"}');
  const held = await holdDataFolder(folder);
  t.same(readdirSync(folder), ['lock.8']);
  rmSync(join(folder, 'lock.8', 'holder.json'));
  await t.rejects(holdDataFolder(folder), { pid: null, message: /is in use by another process/ });
  await held.release();
});

t.test('of two processes that race for a dead lock exactly one wins, twenty times', async (t) => {
  const folder = tempFolder(t);
  let dead = 0;
  for (let round = 0; round < 20; round++) {
    const starters = [start(t, 'folder_holder.js', [folder]), start(t, 'folder_holder.js', [folder])];
    await Promise.all(starters.map((starter) => starter.line()));
    for (const starter of starters) starter.say('hold');
    const lines = await Promise.all(starters.map((starter) => starter.line()));
    const winners = lines.filter(({ held }) => held);
    const losers = lines.filter(({ held }) => !held);
    t.equal(winners.length, 1, `round ${round}: one wins`);
    t.equal(losers[0]?.holder, winners[0]?.pid, `round ${round}: the other is told who`);
    t.not(winners[0]?.pid, dead);
    dead = Number(winners[0]?.pid);
    // Both are killed, the winner too, so that the next round races for a lock nobody released.
    await Promise.all(starters.map((starter) => starter.kill('SIGKILL')));
  }
});

t.test('a stopped holder still holds, a killed one does not', async (t) => {
  const folder = tempFolder(t);
  const holder = start(t, 'folder_holder.js', [folder]);
  holder.say('hold');
  t.match(await holder.line(), { ready: true });
  t.match(await holder.line(), { held: true });
  process.kill(holder.pid, 'SIGSTOP');
  await t.rejects(holdDataFolder(folder), { message: `is in use by process ${holder.pid},` });
  await holder.kill('SIGKILL');
  const held = await holdDataFolder(folder);
  await held.release();
});

t.test('many starts in one process: one holds', async (t) => {
  const folder = tempFolder(t);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => holdDataFolder(folder)));
  const held = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  t.equal(held.length, 1);
  await held[0]?.release();
});
