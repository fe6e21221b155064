import t from 'tap';
import { ScriptedEngine } from '../../tools/speech/scripted_engine.js';
import { TestAccount } from '../fixtures/account.js';
import { enterApp } from '../fixtures/app_browsing.js';
import { Browsing } from '../fixtures/browsing.js';
import { TestRecording } from '../fixtures/transcribing.js';

const engine = await ScriptedEngine.start(t);
const browsing = await Browsing.start(t, { CHUNK_WORKER: '1', RATE_LIMITS: 'off', TRANSCRIBE_URL: engine.url });
const { spool } = browsing;

await browsing.walk(t, 'K-184 a recording in which nothing to do was found says so', async (_, visitor) => {
  const { page } = visitor;
  const email = browsing.somebody();
  const account = await TestAccount.open(spool, email, { sharing: false });
  const recording = await TestRecording.begin(account);
  await recording.add(5_000, { says: [{ text: 'The moon is bright tonight.', start_ms: 500, end_ms: 4_500 }] });
  await enterApp(browsing, visitor, `/recordings/${recording.id}`, email);
  await page.getByText('The moon is bright tonight.').first().waitFor();
  await recording.end();
  await spool.operator.advanceClock(11_000);
  await page.getByText('Nothing to do was found.').waitFor();
});
