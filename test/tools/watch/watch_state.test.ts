import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { WatchState } from '../../../tools/watch/watch_state.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const SERVER = 'http://localhost:8080';
const FILE = { size: 10, mtime_ms: 1 };
const NOW = Date.parse('2026-11-29T10:00:00.000Z');
const done = { status: 'done', stream_id: 's', at: '2026-11-29T10:00:00.000Z' } as const;
const failed = { status: 'failed', code: 'GIVEN_UP', message: 'x', again: true, at: done.at } as const;

t.test('K-422 the content of a file counts, and what became of it stays known', async (t) => {
  const path = join(tempFolder(t), 'state.json');
  const state = await WatchState.open(path, SERVER);
  state.setPath('a.wav', FILE, { sha256: 'one', sent: true });
  t.notOk(state.isOver('a.wav', FILE, NOW));
  await state.settle('one', done);
  t.ok(state.isOver('a.wav', FILE, NOW));
  t.notOk(state.isOver('a.wav', { ...FILE, size: 11 }, NOW), 'a changed file is looked at again');
  state.keep(new Map());
  await state.save();
  const later = await WatchState.open(path, SERVER);
  t.notOk(later.isOver('a.wav', FILE, NOW), 'the path has gone');
  t.match(later.outcome('one'), done, 'its content is known');
  state.setPath('list.txt', FILE, { sha256: null, sent: false });
  t.ok(state.isOver('list.txt', FILE, NOW), 'what is no recording is not read again');
});

t.test('K-422 a failure that may pass is tried again after an hour, others never', async (t) => {
  const state = await WatchState.open(join(tempFolder(t), 'state.json'), SERVER);
  await state.settle('one', failed);
  await state.settle('two', { ...failed, again: false });
  const at = (minutes: number) => ['one', 'two'].map((hash) => state.isSettled(hash, NOW + minutes * 60_000));
  t.same(at(59), [true, true]);
  t.same(at(60), [false, true]);
});

t.test('K-422 two programs that share a state lose nothing of each other', async (t) => {
  const path = join(tempFolder(t), 'state.json');
  const [one, two] = [await WatchState.open(path, SERVER), await WatchState.open(path, SERVER)];
  await one.settle('one', done);
  await two.settle('two', failed);
  await one.settle('two', done);
  await two.settle('three', done);
  const { files } = JSON.parse(readFileSync(path, 'utf8'));
  t.same(Object.keys(files).sort(), ['one', 'three', 'two']);
  t.equal(files.two.status, 'done', 'a recording outlasts a failure');
  await t.rejects(WatchState.open(path, 'http://localhost:9'), /what was imported at http:\/\/localhost:8080/);
  writeFileSync(path, 'no');
  await t.rejects(WatchState.open(path, SERVER), /is not a state of spool watch/);
});
