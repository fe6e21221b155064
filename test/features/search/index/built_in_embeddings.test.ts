import t from 'tap';
import { MEANING_MODEL } from '../../../../src/engine/meaning/meaning_model.js';
import { MeaningProcess } from '../../../../src/engine/meaning/meaning_process.js';
import { makeMetrics } from '../../../../src/engine/metrics/metrics.js';
import { BuiltInEmbeddings, meaningProblem } from '../../../../src/features/search/index/built_in_embeddings.js';
import { Embeddings } from '../../../../src/features/search/index/embeddings.js';
import { isEnglish } from '../../../../src/features/search/index/stop_words.js';
import { NO_MEANING_MODEL } from '../../../fixtures/meaning.js';
import { tempFolder } from '../../../fixtures/temp_folder.js';

const LOG = { warn: () => {} };
const SETTINGS = { embed_url: null, embed_built_in: true, transcribe_nice: 0 };

t.test('K-272 where the model is not there a start says so', async (t) => {
  t.match(await meaningProblem(SETTINGS, tempFolder(t)), /npm start/);
  t.equal(
    await meaningProblem({ ...SETTINGS, embed_built_in: false }, tempFolder(t)),
    null,
    'nor where nobody wants it',
  );
  t.equal(await meaningProblem({ ...SETTINGS, embed_url: 'http://127.0.0.1:1' }, tempFolder(t)), null);
});

t.test('K-272 where it is there it runs', { skip: NO_MEANING_MODEL }, async (t) => {
  t.equal(await meaningProblem(SETTINGS), null);
});

t.test('K-274 texts of other languages get no vector', async (t) => {
  for (const text of ['Where are the pedals?', 'pedals', 'Okay, okay.', 'I never go to Bern.'])
    t.equal(isEnglish(text), true, text);
  for (const text of [
    'Wo sind die Pedale?',
    'Was habe ich Anna versprochen?',
    'Où est la clé ?',
    '¿Dónde están los pedales?',
    'Где ключи?',
    '鍵はどこ',
    '12:30',
    '',
  ])
    t.equal(isEnglish(text), false, text);

  const bounds = { idle_ms: 1, silence_ms_max: 1, memory_bytes_max: 1, priority: 0 };
  const meaning = new MeaningProcess({ folder: tempFolder(t), ...bounds });
  const embeddings = new Embeddings({ engine: new BuiltInEmbeddings(meaning), metrics: makeMetrics(), log: LOG });
  t.teardown(() => embeddings.close());
  t.equal(embeddings.knows('The bike is in the shed.', 'en-GB'), true);
  t.equal(embeddings.knows('The bike is in the shed.', 'de'), false, 'the language that was heard counts');
  t.equal(embeddings.knows('The bike is in the shed.', null), true);
  t.equal(embeddings.knows('Das Rad steht im Schuppen.', null), false);
  t.equal(await embeddings.ofQuestion('Wo sind die Pedale?', 'a'), null);
  t.equal(meaning.pid, null, 'nor is the model asked');
});

t.test('K-273 a late question gets no vector, and the process goes on', { skip: NO_MEANING_MODEL }, async (t) => {
  const bounds = { idle_ms: 60_000, silence_ms_max: 60_000, memory_bytes_max: 2 ** 30, priority: 0 };
  const meaning = new MeaningProcess({ folder: MEANING_MODEL.folder, ...bounds });
  const engine = new BuiltInEmbeddings(meaning);
  const metrics = makeMetrics();
  const hasty = new Embeddings({ engine, metrics, log: LOG, query_ms_max: 1 });
  const patient = new Embeddings({ engine, metrics, log: LOG, query_ms_max: 60_000 });
  t.teardown(() => engine.close());
  t.equal(await hasty.ofQuestion('Where is the bike?', 'a'), null);
  const { pid } = meaning;
  t.ok(await patient.ofQuestion('Where is the bike?', 'a'));
  t.ok(pid !== null && meaning.pid === pid, 'its model is loaded once');
  t.match(await metrics.registry.metrics(), /embedding_failures_total\{code="ENGINE_TIMEOUT"\} 1/);
});

t.test('K-273 a fault of the process is none of the question', async (t) => {
  const bounds = { idle_ms: 60_000, silence_ms_max: 60_000, memory_bytes_max: 2 ** 30, priority: 0 };
  const engine = new BuiltInEmbeddings(new MeaningProcess({ folder: tempFolder(t), ...bounds }));
  const embeddings = new Embeddings({ engine, metrics: makeMetrics(), log: LOG, query_ms_max: 60_000 });
  t.teardown(() => embeddings.close());
  t.equal(await embeddings.ofQuestion('Where is the bike?', 'a'), null, 'there is no model');
  const call = { owner: 'a', stream_id: 's', signal: new AbortController().signal };
  const failed = await embeddings.of(['words'], call).catch((error: unknown) => error);
  t.match(failed, { failure: { code: 'ENGINE_ERROR', retry: true } });
});
