import { signal } from '@preact/signals';
import { api } from '../api/api.js';
import { ApiError } from '../api/api_error.js';
import { say } from '../language/say.js';
import { showToast } from '../parts/toast_queue.js';

/** Marks that a person sets while it is recorded: signals of the type `note` on the timeline. */

const AGAIN_MS = 5_000;

/** `text`: empty where nothing was written. */
type Mark = { ref: string; stream_id: string; start_ms: number; text: string; is_sent: boolean };

/** Those of this page, the last one first. */
export const marks = signal<readonly Mark[]>([]);

let timer: ReturnType<typeof setTimeout> | undefined;

export function setMark(stream_id: string, start_ms: number, text: string): void {
  const mark = { ref: `mark-${crypto.randomUUID()}`, stream_id, start_ms: Math.round(start_ms), text, is_sent: false };
  marks.value = [mark, ...marks.value];
  void sendMarks();
}

/** Sends those that wait; without a connection again later. */
async function sendMarks(): Promise<void> {
  clearTimeout(timer);
  for (const { ref, stream_id, start_ms, text } of marks.value.filter(({ is_sent }) => !is_sent)) {
    try {
      const sent = { ref, type: 'note', start_ms, payload: text === '' ? {} : { text } };
      await api('POST /audio/streams/{id}/signals', { path: { id: stream_id }, body: { signals: [sent] } });
      marks.value = marks.value.map((one) => (one.ref === ref ? { ...one, is_sent: true } : one));
    } catch (error) {
      if (error instanceof ApiError && error.code !== 'NETWORK') {
        marks.value = marks.value.filter((one) => one.ref !== ref);
        showToast(say('The mark could not be kept. {message}', { message: error.message }), 'problem');
        continue;
      }
      timer = setTimeout(() => void sendMarks(), AGAIN_MS);
      return;
    }
  }
}
