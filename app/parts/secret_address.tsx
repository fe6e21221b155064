import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useAction, useLoaded } from '../api/loading.js';
import { say, sayWith } from '../language/say.js';
import { Button } from './button.js';
import { Ago } from './clock.js';
import { confirm } from './dialog.js';
import { FormProblem } from './field.js';
import { Show } from './placeholders.js';
import { Secret } from './secret.js';
import { showToast } from './toast_queue.js';

/** When an address was made, and when it was used last. */
type AddressTimes = { made_at: string | null; used_at: string | null };

type SecretAddressProps = {
  read: () => Promise<AddressTimes>;
  make: () => Promise<AddressTimes & { url: string }>;
  end: () => Promise<unknown>;
  /** The consequences of another address, and of the end. */
  renewal: string;
  ending: string;
  /** When it was used last. */
  used: (at: string | null) => ComponentChildren;
  /** Beside an address that was just made. */
  more?: (url: string) => ComponentChildren;
};

/** An address that holds a secret and is shown once: made, made anew and ended. */
export function SecretAddress({ read, make, end, renewal, ending: end_text, used, more }: SecretAddressProps) {
  const present = useLoaded(read, []);
  const [url, setUrl] = useState<string | null>(null);
  const making = useAction(async () => {
    const { url: made, ...times } = await make();
    setUrl(made);
    present.set(times);
  });
  const ending = useAction(async () => {
    await end();
    setUrl(null);
    present.set({ made_at: null, used_at: null });
    showToast(say('The address has ended.'));
  });
  const renew = async () => {
    const asked = { title: say('Make a new address?'), action: say('Make address'), grave: true, text: renewal };
    if (await confirm(asked)) await making.run();
  };
  const finish = async () => {
    const asked = { title: say('End this address?'), action: say('End address'), grave: true, text: end_text };
    if (await confirm(asked)) await ending.run();
  };
  return (
    <>
      <Show of={present}>
        {({ made_at, used_at }) =>
          made_at === null ? (
            <div class="dialog-actions">
              <Button kind="primary" busy={making.busy} onClick={() => void making.run()}>
                {say('Make an address')}
              </Button>
            </div>
          ) : (
            <div class="secret-address">
              {url !== null && (
                <>
                  <Secret text={url} what={say('The address')} once />
                  {more?.(url)}
                </>
              )}
              <p class="row-facts">
                <span>{sayWith('Made {ago}', { ago: <Ago at={made_at} /> })}</span>
                <span>{used(used_at)}</span>
              </p>
              <div class="dialog-actions">
                <Button busy={making.busy} onClick={() => void renew()}>
                  {say('Make a new address')}
                </Button>
                <Button kind="danger" busy={ending.busy} onClick={() => void finish()}>
                  {say('End address')}
                </Button>
              </div>
            </div>
          )
        }
      </Show>
      <FormProblem error={making.error ?? ending.error} />
    </>
  );
}
