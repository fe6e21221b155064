import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ScriptedEngine } from '../../../dist/tools/speech/scripted_engine.js';
import { feed } from '../meetings/feed.mjs';
import { score, total } from '../meetings/score.mjs';
import { temporaryFolder } from '../processes.mjs';
import { startSpool } from '../spool_setup.mjs';

const CONVERSATIONS =
  process.env.MEETINGS_FOLDER ?? fileURLToPath(new URL('../meetings/conversations', import.meta.url));

export const title = 'meetings: tasks, decisions, titles, summaries and answers, of labelled conversations';

/**
 * Without a model. `MEETINGS_DETAILS=1` prints what was missed and what is wrong, `MEETINGS_FOLDER` names a folder of other
 * conversations, such as meetings/other_conversations, of which rules were made without reading them.
 */
export async function run() {
  const { folder, remove } = temporaryFolder();
  const stops = [remove];
  try {
    const engine = await ScriptedEngine.start({ keeps_requests: false });
    stops.push(() => engine.close());
    const engine_env = { TRANSCRIBE_URL: engine.url, TRANSCRIBE_DIARIZE: '1' };
    const spool = await startSpool(folder, { env: { TEST_CLOCK: '1', CHUNK_WORKER: '1', ...engine_env } });
    stops.push(() => spool.stop());
    const scores = [];
    for (const conversation of conversations()) {
      const one = score(conversation, await feed(spool, conversation));
      if (process.env.MEETINGS_DETAILS === '1') console.log(JSON.stringify(one, null, 1));
      scores.push(one);
    }
    return rowsOf(total(scores));
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** In the order of their days, since the clock of a server goes on. */
function conversations() {
  return readdirSync(CONVERSATIONS)
    .map((name) => JSON.parse(readFileSync(`${CONVERSATIONS}/${name}`, 'utf8')))
    .sort((a, b) => Date.parse(a.captured_at) - Date.parse(b.captured_at));
}

function rowsOf({
  suggestions,
  right,
  labels,
  kinds,
  traps,
  twice,
  clear,
  owner,
  due,
  title: titles,
  summary,
  questions,
}) {
  const row = (work, [count, of], goal_percent) => ({
    work,
    beside: `${count} of ${of}`,
    figure: `${((100 * count) / of).toFixed(0)} %`,
    ...{ peer: '', ratio: '', goal: `≥ ${goal_percent} %`, met: 100 * count >= goal_percent * of },
  });
  const most = (work, count, goal) => ({
    ...{ work, beside: '', figure: String(count), peer: '', ratio: '', goal: `≤ ${goal}`, met: count <= goal },
  });
  const kind = ({ found, of }) => [found, of];
  return [
    row('items that are right', [right, suggestions], 78),
    row('items that are found', [right, labels], 58),
    row('of them tasks', kind(kinds.task), 65),
    row('decisions', kind(kinds.decision), 58),
    row('open questions', kind(kinds.question), 50),
    row('reminders', kind(kinds.reminder), 60),
    row('owners that are right', [owner.right, owner.of], 88),
    row('days and times that are right', [due.right, due.of], 75),
    row('items that can be understood alone', [clear, right], 66),
    most('things that only sound like an item', traps, 2),
    most('items that are there twice', twice, 0),
    row('titles that name the matter', [titles.good, titles.of], 80),
    row('what a summary must say', [summary.must, summary.of], 50),
    most('things that a summary must not say', summary.violations, 0),
    row('questions answered first', [questions.at1, questions.of], 55),
    row('questions answered among the first three', [questions.at3, questions.of], 72),
    most('questions without any answer', questions.nothing, 0),
  ];
}
