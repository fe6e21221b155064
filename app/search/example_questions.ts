import type { Stream, Suggestion } from '../../kits/typescript/src/api.js';
import { say } from '../language/say.js';

const EXAMPLES_MAX = 4;
const OF_PEOPLE_MAX = 2;
const TITLE_CHARS_MAX = 60;
/** Names that files come with say nothing of what is in them. */
const OF_A_FILE = /[_/\\]|\.\w{2,4}$/;

type Heard = Pick<Stream, 'title' | 'title_suggested' | 'speakers'>;
type Promised = Pick<Suggestion, 'roles'>;

/**
 * Questions that somebody may ask of their own recordings, four at most. `tasks`: what is open, of which the owners count.
 * `names`: named people by id. `self_id`: the account's own person, who asks.
 */
export function exampleQuestions({
  streams,
  tasks,
  names,
  self_id,
}: {
  streams: readonly Heard[];
  tasks: readonly Promised[];
  names: ReadonlyMap<string, string>;
  self_id: string | null;
}): string[] {
  const asked_about = new Set<string>();
  const asked_of = new Set<string>();
  const of_people: string[] = [];
  const titled = streams.flatMap((stream) => {
    const title = titleOf(stream);
    return title === null ? [] : [{ title, speakers: stream.speakers ?? [] }];
  });
  for (const { title, speakers } of titled) {
    const speaker = speakers.find(({ contact_id, name }) => {
      return name !== null && contact_id !== null && contact_id !== self_id && !asked_of.has(name);
    });
    if (speaker?.name == null || asked_about.has(title) || of_people.length >= OF_PEOPLE_MAX) continue;
    asked_about.add(title);
    asked_of.add(speaker.name);
    of_people.push(say('What did {name} say about {title}?', { name: speaker.name, title }));
  }
  const of_tasks = promises({ tasks, names, self_id });
  const of_titles = titled.flatMap(({ title }) => {
    if (asked_about.has(title)) return [];
    asked_about.add(title);
    return [say('What was said about {title}?', { title })];
  });
  return [...of_people, ...of_tasks, ...of_titles].slice(0, EXAMPLES_MAX);
}

function titleOf({ title, title_suggested }: Heard): string | null {
  const text = (title ?? title_suggested ?? '').trim();
  return text === '' || text.length > TITLE_CHARS_MAX || OF_A_FILE.test(text) ? null : text;
}

function promises({
  tasks,
  names,
  self_id,
}: {
  tasks: readonly Promised[];
  names: ReadonlyMap<string, string>;
  self_id: string | null;
}): string[] {
  const owners = new Set(tasks.flatMap(({ roles }) => roles.owner_contact_id ?? []));
  return [...owners]
    .flatMap((id) => {
      if (id === self_id) return [say('What did I promise?')];
      const name = names.get(id);
      return name === undefined ? [] : [say('What did {name} promise?', { name })];
    })
    .slice(0, 1);
}
