import t from 'tap';
import { OPERATORS_ENGINE } from '../../../actors/insights/context_state.js';
import { LIMITS } from '../../../src/domain/limits.js';
import type { Engine } from '../../../src/features/transcripts/engines/engine.js';
import { LiveText } from '../../../src/features/transcripts/live_text.js';
import { TestAccount } from '../../fixtures/account.js';
import { LiveReader } from '../../fixtures/live_text.js';
import { TestSpool } from '../../fixtures/spool.js';
import { TestRecording } from '../../fixtures/transcribing.js';
import { until } from '../../fixtures/until.js';

const SETTINGS = { RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' };
const spool = await TestSpool.start(SETTINGS);
t.teardown(() => spool.end());

/** Says of each file how long it is, so that more audio gives another line. */
const engine: Engine = {
  name: 'scripted',
  hear: async ({ file }) => {
    const end_s = (file.counts.end_ms - file.counts.start_ms) / 1_000;
    return { segments: [{ start_s: 0, end_s, text: `${end_s} seconds.`, words: [] }] };
  },
  close: async () => {},
};
const of_another = new Set<string>();
let passed_ms = 0;
const { actors, runtime, blobs, decoded, live_text } = spool.server.services;
live_text.close();
spool.server.services.live_text = new LiveText({
  ...{ actors, runtime, stores: { blobs, decoded }, engine },
  jobs: { heardBy: async ({ id }) => ({ engine: of_another.has(id) ? 'other' : OPERATORS_ENGINE, language: null }) },
  awaited: async () => [[0, 1]],
  isLeaving: () => false,
  monotonicMs: () => passed_ms,
});

async function watch(recording: TestRecording): Promise<LiveReader> {
  const reader = await LiveReader.open(recording.account, recording.id);
  await recording.add(1_000);
  return reader;
}

/** As many readers as there are places, each of a recording of its own. */
async function watchAll(account: TestAccount, begun: (id: string) => void = () => {}) {
  const watched: { recording: TestRecording; reader: LiveReader }[] = [];
  while (watched.length < LIMITS.live_previews_max) {
    const recording = await TestRecording.begin(account);
    begun(recording.id);
    watched.push({ recording, reader: await watch(recording) });
  }
  const close = () => {
    for (const { reader } of watched) reader.close();
  };
  return { watched, readers: watched.map(({ reader }) => reader), close };
}

const hasLines = ({ preview }: LiveReader) => preview.lines.length > 0;

t.test('K-173 eight recordings have preliminary lines, and a ninth when one of them is left', async (t) => {
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const { watched, readers, close } = await watchAll(ann);
  await until('eight have lines', () => readers.every(hasLines));
  const ninth = await watch(await TestRecording.begin(ann));
  const [first] = watched as [(typeof watched)[number]];
  for (let count = 0; count < 2; count++) {
    const before = first.reader.preview;
    await first.recording.add(1_000);
    await until('those that have a place go on', () => first.reader.preview !== before);
    t.notOk(hasLines(ninth));
  }
  first.reader.close();
  await until('the ninth has lines', () => hasLines(ninth));
  close();
  ninth.close();
});

t.test('K-173 an account that has all places gives up some to another', async (t) => {
  const dan = await TestAccount.open(spool, 'dan@x.test');
  const { readers, close } = await watchAll(dan);
  await until('eight have lines', () => readers.every(hasLines));
  const eve = await TestAccount.open(spool, 'eve@x.test');
  const others = await watchAll(eve);
  await until('four of the other account have lines', () => others.readers.filter(hasLines).length === 4);
  t.ok(readers.every(hasLines), 'what was said before is still shown');
  close();
  others.close();
});

t.test('K-250 recordings that another engine transcribes take no place', async (t) => {
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const { readers, close } = await watchAll(bob, (id) => of_another.add(id));
  const ninth = await watch(await TestRecording.begin(bob));
  await until('the ninth has lines', () => hasLines(ninth));
  t.notOk(readers.some(hasLines));
  close();
  ninth.close();
});

t.test('K-250 a recording without new audio leaves its place, and finds one again', async (t) => {
  const cy = await TestAccount.open(spool, 'cy@x.test');
  const { watched, readers, close } = await watchAll(cy);
  await until('eight have lines', () => readers.every(hasLines));
  passed_ms += LIMITS.live_preview_idle_ms;
  const ninth = await watch(await TestRecording.begin(cy));
  await until('the ninth has lines', () => hasLines(ninth));
  t.ok(readers.every(hasLines), 'what was said in the others is still shown');
  const [first] = watched as [(typeof watched)[number]];
  const before = first.reader.preview;
  await first.recording.add(1_000);
  await until('one that goes on has new lines', () => first.reader.preview !== before);
  close();
  ninth.close();
});
