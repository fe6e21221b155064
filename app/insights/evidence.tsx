import type { Evidence } from '../../kits/typescript/src/api.js';
import { clockText } from '../../src/domain/span_text.js';
import { say } from '../language/say.js';
import { BASE } from '../router.js';

const SHOWN = 2;
const GONE = { expired: 'What was said is no longer kept.', deleted: 'What was said was deleted.' } as const;

/** Where something was said, by whom, and the sentences around. What only says `text` again is not quoted. */
export function EvidenceList({ evidence, text }: { evidence: readonly Evidence[]; text: string }) {
  return (
    <ul class="evidence">
      {evidence.slice(0, SHOWN).map((one) => (
        <li key={`${one.stream_id} ${one.start_ms}`}>
          {one.state === 'available' ? (
            <>
              <a href={`${BASE}/recordings/${one.stream_id}?t=${one.start_ms}`}>
                {clockText(one.start_ms)}
                <span class="visually-hidden"> {say('in the recording')}</span>
              </a>{' '}
              {one.speaker_name != null && (
                <>
                  <bdi>{one.speaker_name}</bdi>
                  {one.quote !== null && one.quote !== text && ': '}
                </>
              )}
              {one.quote !== null && one.quote !== text && <q dir="auto">{one.quote}</q>}
            </>
          ) : (
            say(GONE[one.state])
          )}
        </li>
      ))}
    </ul>
  );
}

/** To all that came of the recorder session in which something was said. */
export function FromSession({ id }: { id: string | null }) {
  if (id === null) return null;
  return (
    <a class="above" href={`${BASE}/sessions/${id}/summary`}>
      {say('from a session')}
    </a>
  );
}
