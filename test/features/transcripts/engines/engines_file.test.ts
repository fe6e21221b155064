import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { insightEngines, insightHosts } from '../../../../src/features/insights/engines/choose.js';
import { parseEngines, readEnginesFile } from '../../../../src/features/transcripts/engines/engines_file.js';
import { readSettings } from '../../../../src/host/settings.js';
import { builtInEngine } from '../../../fixtures/built_in_engine.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const URL_ = 'https://models.example/v1';

t.test('K-118 a file of engines, and what in it is wrong', async (t) => {
  t.same(readEnginesFile(null), { transcription: {}, insights: {} });
  const file = join(tempFolder(t), 'engines.json');
  t.throws(() => readEnginesFile(file), { message: "ENGINES_FILE can't be read: ENOENT." });
  writeFileSync(file, JSON.stringify({ insights: { large: { url: URL_, key: 'k', model: 'm' } } }));
  t.same(readEnginesFile(file).insights, { large: { url: URL_, key: 'k', model: 'm' } });
  const command = ['whisper', '{audio}'];
  t.same(
    parseEngines(JSON.stringify({ transcription: { a: { command }, b: { url: URL_, diarize: true } } })).insights,
    {},
  );
  const rows: [said: unknown, member: string][] = [
    [[], 'its top'],
    [{ embeddings: {} }, 'embeddings'],
    [{ insights: { large: {} } }, 'insights.large.url'],
    [{ insights: { large: { url: 'ftp://x' } } }, 'insights.large.url'],
    [{ insights: { large: { url: 'https://a:secret@x' } } }, 'insights.large.url'],
    [{ insights: { large: { url: URL_, key: 'secret key' } } }, 'insights.large.key'],
    [{ insights: { large: { url: URL_, temperature: 1 } } }, 'insights.large.temperature'],
    [{ insights: { default: { url: URL_ } } }, 'insights.default'],
    [{ insights: { ['x'.repeat(61)]: { url: URL_ } } }, `insights.${'x'.repeat(61)}`],
    [{ transcription: { a: {} } }, 'transcription.a'],
    [{ transcription: { a: { url: URL_, command } } }, 'transcription.a'],
    [{ transcription: { a: { command: ['whisper'] } } }, 'transcription.a.command'],
    [{ transcription: { a: { command, key: 'k' } } }, 'transcription.a'],
  ];
  for (const [said, member] of rows) {
    const wrong = (error: Error) => error.message.startsWith(`ENGINES_FILE is wrong at ${member}: `);
    let message = 'taken';
    try {
      parseEngines(JSON.stringify(said));
    } catch (error) {
      message = wrong(error as Error) ? member : (error as Error).message;
      t.notMatch((error as Error).message, /secret/);
    }
    t.equal(message, member);
  }
  t.throws(() => parseEngines('{'), { message: 'ENGINES_FILE is not JSON.' });
  t.throws(() => parseEngines(' '.repeat(70_000)), { message: /larger/ });
});

t.test('which engines there are, and where text goes', async (t) => {
  const further = { large: { url: URL_ } };
  const of = (env: Record<string, string>) => {
    const settings = readSettings(env);
    return [
      [...insightEngines(settings, further, { now: Date.now, built_in: builtInEngine() }).keys()].sort(),
      insightHosts(settings, further),
    ];
  };
  t.same(of({}), [['default', 'extractive', 'large'], ['models.example']]);
  t.same(of({ INSIGHTS_URL: 'http://127.0.0.1:8000/v1' }), [
    ['default', 'extractive', 'large'],
    ['127.0.0.1:8000', 'models.example'],
  ]);
  t.same(of({ INSIGHTS: 'off', INSIGHTS_URL: 'http://127.0.0.1:8000' })[0], ['default', 'extractive', 'large']);
  t.same(of({ INSIGHTS: 'off' }), [[], []]);
  t.same(of({ CONTENT_WORKER: '0' }), [[], []]);
});
