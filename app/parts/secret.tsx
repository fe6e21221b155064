import { say } from '../language/say.js';
import { CopyButton } from './button.js';

/** Something to copy. `once`: it is nowhere else, and gone when this is left. */
export function Secret({ text, what, once = false }: { text: string; what: string; once?: boolean }) {
  return (
    <>
      <div class="secret">
        <output aria-label={what}>{text}</output>
        <CopyButton text={text} what={what} />
      </div>
      {once && <p class="hint">{say('Copy it now: it is shown only once.')}</p>}
    </>
  );
}
