import { CORPUS, isSetAside, talksIn } from '../../../dist/tools/insights/corpus.js';
import { score, total } from '../../../dist/tools/insights/score.js';
import { conversationOf, timedTurns } from '../../../dist/tools/insights/talk_input.js';
import { ScriptedEngine } from '../../../dist/tools/speech/scripted_engine.js';
import { accountFor, heard, made, moveClockTo, recalled } from '../meetings/feed.mjs';
import { temporaryFolder } from '../processes.mjs';
import { startSpool } from '../spool_setup.mjs';

export const title = 'meetings: tasks, decisions, titles, summaries and answers, of talks that were set aside';

/**
 * Talks of the corpus that nothing was learned from. `--engine URL`: by a model there in place of the built-in engine.
 * `MEETINGS_FOLDER` names a folder of other labelled talks, `MEETINGS_DETAILS=1` prints what was missed and what is wrong.
 */
export async function run({ engine: url }) {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const engine = await ScriptedEngine.start({ keeps_requests: false });
    stops.push(() => engine.close());
    const env = {
      TRANSCRIBE_URL: engine.url,
      TRANSCRIBE_DIARIZE: '1',
      EMBED_BUILT_IN: '1',
      ...(url !== undefined && { INSIGHTS_URL: url }),
    };
    const spool = await startSpool(folder, { env: { TEST_CLOCK: '1', CHUNK_WORKER: '1', ...env } });
    stops.push(() => spool.stop());
    const conversations = setAside();
    const scores = [];
    for (const conversation of conversations) {
      await moveClockTo(spool, conversation);
      const app = await accountFor(spool, conversation.id, conversation.time_zone);
      const said = await heard(spool, app, conversation);
      scores.push(score(conversation, await made(app, { conversation, ...said })));
      if (process.env.MEETINGS_DETAILS === '1') console.log(JSON.stringify(scores.at(-1), null, 1));
    }
    const among_all = await askedAmongAll(spool, conversations);
    return rowsOf(total(scores), among_all, url === undefined ? '' : ', by a model');
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** In the order of their days, since the clock of a server goes on. */
function setAside() {
  const { MEETINGS_FOLDER: other } = process.env;
  const talks = other === undefined ? talksIn(CORPUS).filter(isSetAside) : talksIn(other);
  // Dialogues of two or three sentences are in the report alone: nothing is to be summed up or asked about.
  return talks
    .filter(({ must }) => must.length > 0)
    .map((talk) => ({ ...conversationOf(talk), turns: timedTurns(talk) }))
    .sort((a, b) => Date.parse(a.captured_at) - Date.parse(b.captured_at));
}

/** Questions about each conversation, asked in an account that holds all of them. */
async function askedAmongAll(spool, conversations) {
  const { now } = await spool.operator.advanceClock(1);
  const later_ms = Date.parse(now) - Date.parse(conversations[0].captured_at);
  await accountFor(spool, 'everybody', conversations[0].time_zone);
  const held = [];
  for (const conversation of conversations) {
    const captured_at = new Date(Date.parse(conversation.captured_at) + later_ms).toISOString();
    const own = { ...conversation, captured_at };
    await moveClockTo(spool, own);
    held.push({ conversation: own, ...(await heard(spool, await signedIn(), own)) });
  }
  const app = await signedIn();
  const nothing = { title: null, summary: null, suggestions: [] };
  const scores = [];
  for (const one of held) scores.push(score(one.conversation, { ...nothing, recall: await recalled(app, one) }));
  return total(scores).questions;

  async function signedIn() {
    return (await spool.signIn('everybody@spool.example')).app;
  }
}

function rowsOf(
  { suggestions, right, labels, kinds, traps, traps_of, twice, clear, owner, due, title: titles, summary, questions },
  among_all,
  by,
) {
  const row = (work, [count, of], goal, most = false) => {
    const percent = (100 * count) / of;
    return {
      ...{ work: `${work}${by}`, beside: `${count} of ${of}`, figure: `${percent.toFixed(0)} %`, peer: '', ratio: '' },
      ...{ goal: `${most ? '≤' : '≥'} ${goal} %`, met: most ? percent <= goal : percent >= goal },
    };
  };
  const most = (work, counted, goal) => row(work, counted, goal, true);
  const kind = ({ found, of }) => [found, of];
  return [
    row('items that are right', [right, suggestions], 80),
    row('items that are found', [right, labels], 74),
    row('of them tasks', kind(kinds.task), 80),
    row('decisions', kind(kinds.decision), 62),
    row('open questions', kind(kinds.question), 70),
    row('reminders', kind(kinds.reminder), 85),
    row('owners that are right', [owner.right, owner.of], 92),
    row('days and times that are right', [due.right, due.of], 75),
    row('items that can be understood alone', [clear, right], 66),
    most('traps that are taken for items', [traps, traps_of], 4),
    most('items that are given twice', [twice, suggestions], 2),
    row('titles with two words of the matter', [titles.good, titles.of], 65),
    row('points of a summary that are said', [summary.must, summary.of], 50),
    most('points that must not be said and are', [summary.violations, summary.forbidden], 3),
    row('questions answered first, an account a talk', [questions.at1, questions.of], 60),
    row('among the first three', [questions.at3, questions.of], 78),
    row('among the first eight', [questions.at8, questions.of], 90),
    most('without any answer', [questions.nothing, questions.of], 0),
    row('questions answered first, all talks in one account', [among_all.at1, among_all.of], 42),
    row('among the first three of all', [among_all.at3, among_all.of], 58),
    row('among the first eight of all', [among_all.at8, among_all.of], 70),
  ];
}
