import { clockText } from '../../src/domain/span_text.js';
import { api } from '../api/api.js';
import { apiErrorOf } from '../api/loading.js';
import { say } from '../language/say.js';
import { showToast } from '../parts/toast_queue.js';
import { SentLate } from './sent_late.js';

/** A part of a recording that is about to be deleted. */

export type Part = { from_ms: number; to_ms: number };

type PartOfStream = { stream_id: string; part: Part };

const late = new SentLate<PartOfStream>({
  storage_key: 'spool.deleting_part',
  async send(of) {
    try {
      await deletePart(of);
      showToast(say('{what} deleted.', { what: partText(of.part) }));
    } catch (error) {
      const places = { what: partText(of.part), message: apiErrorOf(error).message };
      showToast(say('{what} could not be deleted. {message}', places), 'problem');
    }
  },
  // The same part again changes nothing.
  sendAgain: (of) =>
    deletePart(of).then(
      () => {},
      () => {},
    ),
  requestsOf: ({ stream_id, part }) => [{ method: 'POST', path: `/audio/streams/${stream_id}/deletions`, body: part }],
});

/** Deletes a part in ten seconds, unless that is undone. Another one that waits is deleted at once. */
export function deletePartSoon(stream_id: string, part: Part, onDeleted: () => void): void {
  void late.sendNow();
  const text = say('{what} will be deleted in 10 seconds, or at once when you leave this page.', {
    what: partText(part),
  });
  late.start({ stream_id, part }, { text, onEnd: onDeleted });
}

function deletePart({ stream_id, part }: PartOfStream): Promise<unknown> {
  return api('POST /audio/streams/{id}/deletions', { path: { id: stream_id }, body: part });
}

/** Such as `1:00 to 2:30`. */
export function partText({ from_ms, to_ms }: Part): string {
  return say('{from} to {to}', { from: clockText(from_ms), to: clockText(Math.ceil(to_ms / 1_000) * 1_000) });
}
