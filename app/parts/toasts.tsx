import { say } from '../language/say.js';
import { Button } from './button.js';
import { Icon } from './icon.js';
import { dismiss, type Tone, toasts } from './toast_queue.js';

/** Where `say` shows its news. Both regions are always there: what comes into one that is new is not read out. */
export function Toasts() {
  const of = (tone: Tone) =>
    toasts.value
      .filter((one) => one.tone === tone)
      .map(({ key, text, button }) => (
        <div key={key} class={`toast ${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'warning'} />
          <p>{text}</p>
          {button !== null && (
            <Button
              small
              onClick={() => {
                dismiss(key);
                button.run();
              }}
            >
              {button.words}
            </Button>
          )}
          <Button kind="quiet" small icon="close" label={say('Dismiss|message')} onClick={() => dismiss(key)} />
        </div>
      ));
  return (
    <div class="toasts">
      <div role="status">{of('good')}</div>
      <div role="alert">{of('problem')}</div>
    </div>
  );
}
