import { useEffect, useState } from 'preact/hooks';
import { say, sayWith } from '../language/say.js';
import { CopyButton } from './button.js';
import { Countdown } from './clock.js';
import { QrCode } from './qr_code.js';

const HALF = 4;

type ClaimWithCode = { claim: string; code: string; code_expires_at: string };

/** A claim to scan, and its code to type until that ends. `over`: called then. */
export function PairingCode({ of, label, over }: { of: ClaimWithCode; label: string; over?: () => void }) {
  const { claim, code, code_expires_at } = of;
  const [is_over, setOver] = useState(false);
  useEffect(() => setOver(false), [code]);
  const end = () => {
    setOver(true);
    over?.();
  };
  const text = `${code.slice(0, HALF)}-${code.slice(HALF)}`;
  return (
    <>
      <QrCode text={claim} label={label} />
      {is_over ? (
        <p class="notice caution">{say('The code to type has expired. The QR code still works.')}</p>
      ) : (
        <div class="pairing-code">
          <output aria-label={say('The code')}>{text}</output>
          <CopyButton text={text} what={say('The code')} />
          <p class="hint">
            {sayWith('Type it within {time}.', { time: <Countdown until={code_expires_at} over={end} /> })}
          </p>
        </div>
      )}
    </>
  );
}
