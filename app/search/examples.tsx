import { api } from '../api/api.js';
import { useLoaded } from '../api/loading.js';
import { loadContacts } from '../contacts/people.js';
import { say } from '../language/say.js';
import { Section } from '../parts/page.js';
import { includeAll } from '../recording/stream_names.js';
import { may } from '../shell/account.js';
import { exampleQuestions } from './example_questions.js';
import { QuestionLinks } from './question_links.js';

const RECORDINGS = 20;
const TASKS = 20;

/** Questions about what is in the account's own recordings; nothing where none come to mind. */
export function Examples() {
  const examples = useLoaded(loadExamples, []);
  const questions = examples.data ?? [];
  if (questions.length === 0) return null;
  return (
    <Section title={say('Questions you can ask')}>
      <QuestionLinks questions={questions} />
    </Section>
  );
}

/** Leaves out what fails: the page asks without examples too. */
async function loadExamples(): Promise<string[]> {
  const [streams, tasks, contacts] = await Promise.all([
    may('audio:read')
      ? api('GET /audio/streams', { query: { limit: RECORDINGS, ...includeAll() } }).catch(() => null)
      : null,
    may('insights:read')
      ? api('GET /suggestions', { query: { limit: TASKS, status: 'open' } }).catch(() => null)
      : null,
    loadContacts().catch(() => null),
  ]);
  const known = contacts?.items ?? [];
  return exampleQuestions({
    streams: streams?.items ?? [],
    tasks: tasks?.items ?? [],
    names: new Map(known.flatMap(({ id, name }) => (name === null ? [] : [[id, name] as const]))),
    self_id: known.find(({ is_self }) => is_self)?.id ?? null,
  });
}
