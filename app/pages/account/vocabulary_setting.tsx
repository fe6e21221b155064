import type { Profile } from '../../../kits/typescript/src/api.js';
import { api } from '../../api/api.js';
import { useAction, useLoaded } from '../../api/loading.js';
import { say } from '../../language/say.js';
import { AddForm } from '../../parts/add_form.js';
import { Button } from '../../parts/button.js';
import { faultOf } from '../../parts/form.js';
import { Section } from '../../parts/page.js';
import { Show } from '../../parts/placeholders.js';
import { undoButton, useToastAction } from '../../parts/toast_action.js';
import { showToast } from '../../parts/toast_queue.js';
import { WORD_CHARS_MAX, WORDS_MAX, withoutWord, withWord } from './vocabulary.js';

/** Names and words that engines are told, so that they spell them as the person does. */
export function VocabularySetting() {
  const profile = useLoaded(() => api('GET /profile'), []);
  return (
    <Section
      title={say('Names and words')}
      lead={say(
        'Engines that write down or summarize what you say are told how you spell them. Spool’s built-in engines don’t use them.',
      )}
    >
      <Show of={profile}>{({ vocabulary }) => <Words words={vocabulary} set={profile.set} />}</Show>
    </Section>
  );
}

function Words({ words, set }: { words: readonly string[]; set: (profile: Profile) => void }) {
  const change = async (make: (words: readonly string[]) => string[]) => {
    // Another page may have saved the profile meanwhile: only its words change here.
    const { revision, vocabulary } = await api('GET /profile');
    set(await api('PATCH /profile', { body: { revision, vocabulary: make(vocabulary) } }));
  };
  const add = useAction((word: string) => change((now) => withWord(now, word)));
  const remove = useToastAction(say('The word could not be removed.'), async (word: string) => {
    const at = words.indexOf(word);
    await change((now) => withoutWord(now, word));
    const back = undoButton(() => change((now) => withWord(now, word, at)));
    showToast(say('“{word}” is removed.', { word }), 'good', back);
  });
  return (
    <div class="panel">
      {words.length > 0 && (
        <ul class="tags" aria-label={say('Names and words')}>
          {words.map((word) => (
            <li key={word} class="tag removable">
              <bdi>{word}</bdi>
              <Button
                kind="quiet"
                small
                icon="close"
                label={say('Remove {word}', { word })}
                onClick={() => void remove.run(word)}
              />
            </li>
          ))}
        </ul>
      )}
      {words.length < WORDS_MAX ? (
        <AddWord of={add} count={words.length} />
      ) : (
        <p class="hint">{say('There are {n} words. Remove one to add another.', { n: WORDS_MAX })}</p>
      )}
    </div>
  );
}

function AddWord({ of, count }: { of: ReturnType<typeof useAction<[word: string]>>; count: number }) {
  return (
    <AddForm
      of={of}
      chars_max={WORD_CHARS_MAX}
      label={say('Add a name or word')}
      hint={say('{count} of {n} words. A word has up to {chars} characters.', {
        count,
        n: WORDS_MAX,
        chars: WORD_CHARS_MAX,
      })}
      error={faultOf(of.error, 'vocabulary') ?? of.error?.message}
    />
  );
}
