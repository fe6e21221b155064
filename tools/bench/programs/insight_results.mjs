/** The result of a worker for a conversation: as much as one result may hold. */
import { randomBytes, randomUUID } from 'node:crypto';
import { randomId } from '../../../dist/src/engine/random/random.js';

const SUGGESTIONS = 50;
const MEMORIES = 20;
const TALK_MS = 600_000;
const STEMS = 6;

const stems = () => Array.from({ length: STEMS }, () => randomBytes(6).toString('base64url'));

/**
 * Finds a conversation in a recording of its own, and publishes its result; gives how long that took, ms. `said_in`: the
 * recording that evidence names.
 */
export async function publishInsights(
  actors,
  { library_id, stream_id, source_id, said_in = stream_id, suggestions = SUGGESTIONS, memories = MEMORIES, ...of },
) {
  const library = actors.library(library_id);
  const lane = { stream_id, source_id, pipeline_id: null };
  const part = { stream_id, source_id, start_ms: 0, end_ms: TALK_MS };
  await library.request_run({ ...of, ...lane, from_ms: 0, to_ms: TALK_MS });
  const due = (await library.due_work()).unsettled.find((one) => one.stream_id === stream_id);
  const found = [{ parts: [part], session_id: null, started_at_ms: Date.now() - TALK_MS, ended_at_ms: Date.now() }];
  const { heard, again } = due;
  const looked = { stream_id, pipeline_id: null, heard, again, expired: [] };
  await library.settled({ ...looked, found, left: null, look_again_ms: null });
  const [token, run_id] = [randomUUID(), randomId({ partition: 7, now_ms: Date.now() })];
  const { job } = await library.claim_job({ token, run_id, lease_ms: 60_000 });
  const item = (text, at) => ({
    ...{ op: 'new', text: `${text} number ${at} of this conversation, as somebody said it`, stems: stems() },
    evidence: [{ ...part, stream_id: said_in, start_ms: at * 5_000, end_ms: at * 5_000 + 4_000 }],
  });
  const roles = { owner_contact_id: null, requester_contact_id: null };
  const role_speakers = { owner: null, requester: null };
  const result = {
    made_by: 'model',
    conversation: { title: 'A talk', summary: null, sentences: [], topics: [], participants: [], language: 'en' },
    suggestions: Array.from({ length: suggestions }, (_, at) => {
      return { ...item('A task', at), kind: 'task', due_at_ms: null, due_date: null, roles, role_speakers };
    }),
    memories: Array.from({ length: memories }, (_, at) => ({ ...item('A fact', at), kind: 'fact', contact_id: null })),
    unsupported: 0,
  };
  const said = { job: job.number, token, digest: token, engine: 'bench', result };
  const began = performance.now();
  const { tally } = await library.publish(said);
  const took_ms = performance.now() - began;
  if (tally.suggestions !== suggestions || tally.memories !== memories) throw new Error(JSON.stringify(tally));
  return took_ms;
}
