import type { Writable } from 'node:stream';
import { AppClient } from '../../kits/typescript/src/app_client.js';
import { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { Patience } from '../../kits/typescript/src/retries.js';
import { wordErrors } from '../../src/engine/speech/word_errors.js';
import { UserError } from '../user_error.js';
import { cameOf, dismiss, lookAgain, showInsights } from './insights.js';
import { Progress } from './progress.js';
import { makeRecorder, record, signIn } from './recorder.js';
import type { DemoRecording } from './recording.js';
import { uploadProgressOf } from './run.js';
import type { ChosenServer } from './server_choice.js';
import type { SpokenRecording } from './speech_recording.js';
import { lineOf, showTurns, type Turn } from './transcript.js';

/** The least share of words that are right. */
const RIGHT_MIN = 0.8;
const NAME = 'Ada';

/**
 * A device records what a computer says, the server writes it down and suggests what is to be done. A person says who spoke
 * and dismisses a suggestion, and staff have all of it done once more: what the person said stays. Whether all of it went
 * so.
 */
export async function runSpeech(
  server: ChosenServer,
  {
    recording,
    sentences,
    email,
    out,
  }: { recording: DemoRecording; sentences: SpokenRecording['sentences']; email: string; out: Writable },
): Promise<boolean> {
  const patience = new Patience();
  const operator = new OperatorClient(server.operator_url, server.ops_token);
  const app = new AppClient(server.base_url, { patience: null });
  const clients: { close(): void }[] = [operator, app];
  try {
    await signIn({ app, operator, patience }, email);
    out.write(`signed in as ${email}\n`);
    const recorder = await makeRecorder({ device_url: server.device_url, operator, app, patience });
    clients.push(recorder.device);
    const lane = uploadProgressOf('device 1', recording);
    const progress = new Progress(out, 'recording', [lane]);
    await record(recorder, { recording, patience, hashes: new Map(), chunk_ms: [], lane }).finally(() =>
      progress.end(),
    );

    out.write('\nheard, as it comes:\n');
    const reading = { app, patience, stream_id: recorder.stream_id };
    let contact_id: string | null = null;
    const onFirst = async ({ id }: Turn) => {
      const contact = await patience.ask(() => app.call('POST /contacts', { body: { name: NAME } }));
      contact_id = contact.id;
      const body = { contact_id };
      const { speaker_name } = await patience.repeat(() => app.call('PATCH /turns/{id}', { path: { id }, body }));
      out.write(`  a person says who that was: ${speaker_name}\n`);
    };
    const showing = { end_ms: recording.duration_ms, shown: new Set<string>(), out, onFirst };
    const heard = await showTurns(reading, showing);
    if (heard === null) throw new UserError('The server has no engine.');
    const asking = { ...reading, operator, email, out };
    const came = await showInsights(asking, heard);
    const unwanted = came?.suggestions.at(-1) ?? null;
    if (unwanted !== null) {
      await dismiss(reading, unwanted);
      out.write(`  a person dismisses: ${unwanted.text}\n`);
    }

    out.write('\nonce more; what is heard otherwise:\n');
    const path = { id: recorder.stream_id };
    await patience.repeat(() => operator.call('POST /ops/streams/{id}/reprocess', { path, body: {} }));
    const turns = await showTurns(reading, showing);
    if (turns === null) throw new UserError('The server has no engine.');
    const share = compare({ sentences, turns, out });
    const [first] = turns;
    const is_kept = first !== undefined && contact_id !== null && first.contact_id === contact_id;
    out.write(is_kept ? `What the person said is still there: ${lineOf(first)}\n` : 'What the person said is LOST.\n');
    if (came === null) return is_kept && share >= RIGHT_MIN;

    await lookAgain(asking);
    const open = (await cameOf(reading)).suggestions.filter(({ status }) => status === 'open');
    const is_back = unwanted === null || open.some(({ text }) => text === unwanted.text);
    out.write(is_back ? 'What was dismissed is BACK.\n' : 'What was dismissed does not come back. Still suggested:\n');
    for (const { text } of open) out.write(`  ${text}\n`);
    return is_kept && share >= RIGHT_MIN && !is_back && open.length > 0;
  } finally {
    for (const client of clients) client.close();
  }
}

/** Prints each sentence with what was heard while it was said; the share of words that are right. */
function compare({
  sentences,
  turns,
  out,
}: {
  sentences: SpokenRecording['sentences'];
  turns: Turn[];
  out: Writable;
}): number {
  out.write('\nsaid and heard:\n');
  let [words, errors] = [0, 0];
  for (const { text, start_ms, end_ms } of sentences) {
    const heard = turns
      .filter(
        (turn) => Math.min(turn.end_ms, end_ms) - Math.max(turn.start_ms, start_ms) > (turn.end_ms - turn.start_ms) / 2,
      )
      .map((turn) => turn.text)
      .join(' ');
    const found = wordErrors(text, heard);
    words += found.words;
    errors += found.errors;
    out.write(`  ${text}\n  ${heard}${found.errors === 0 ? '' : `   (${found.errors} wrong)`}\n`);
  }
  const share = 1 - errors / words;
  out.write(`${words - errors} of ${words} words right, word error rate ${((1 - share) * 100).toFixed(1)} %\n`);
  return share;
}
