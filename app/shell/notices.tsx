import { Button } from '../parts/button.js';
import { Icon } from '../parts/icon.js';
import { putAway, said, type Tone } from '../parts/news.js';

/** Where `say` shows its news. Both regions are always there: what comes into one that is new is not read out. */
export function Notices() {
  const of = (tone: Tone) =>
    said.value
      .filter((one) => one.tone === tone)
      .map(({ key, text }) => (
        <div key={key} class={`toast ${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'warning'} />
          <p>{text}</p>
          <Button kind="quiet" small icon="close" label="Put away" onClick={() => putAway(key)} />
        </div>
      ));
  return (
    <div class="toasts">
      <div role="status">{of('good')}</div>
      <div role="alert">{of('problem')}</div>
    </div>
  );
}
