import { abilitiesOf } from '../../../src/edge/pages/scope_texts.js';
import { say, sayKnown } from '../../language/say.js';

/** The abilities that scopes give, in the words of the page that asked for consent. */
export function ScopeList({ scopes }: { scopes: readonly string[] }) {
  const { read, change } = abilitiesOf(scopes);
  return (
    <details class="abilities">
      <summary>{say('Permissions')}</summary>
      {read.length > 0 && <Words title={say('See')} words={read.map(({ words }) => sayKnown(words))} />}
      {change.length > 0 && <Words title={say('Do')} words={change.map(({ words }) => sayKnown(words))} />}
    </details>
  );
}

function Words({ title, words }: { title: string; words: readonly string[] }) {
  return (
    <>
      <p class="hint">{title}</p>
      <ul class="points">
        {words.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </>
  );
}
