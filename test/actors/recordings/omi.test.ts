import t from 'tap';
import { OMI_PAUSE_MS, type Omi, type OmiMessage, omi } from '../../../actors/recordings/omi.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

const ANN = '019a0000-0000-7000-8000-0000000000aa';
const SECOND = { samples: 16_000, sample_rate: 16_000 };

class PlayedOmi extends Played<Omi, OmiMessage, unknown> {
  #ids = 0;
  constructor() {
    super(omi as never, ANN);
  }
  place(key: string, more: object = {}) {
    this.#ids += 1;
    const made = { stream_id: `stream ${this.#ids}`, chunk_ref: `chunk ${this.#ids}` };
    return this.ask({ type: 'place_audio', key, ...SECOND, ...made, ...more });
  }
}

t.test('K-417 bodies of audio follow each other in the order of arrival, each once', async (t) => {
  const played = new PlayedOmi();
  t.match(played.place('a'), { stream_id: 'stream 1', sequence: 0, start_ms: 0, end_ms: 1_000, is_registered: false });
  t.match(played.place('a', { samples: 32_000 }), { chunk_ref: 'chunk 1', end_ms: 1_000 }, 'it came again');
  played.ask({ type: 'audio_registered', stream_id: 'stream 1' });
  t.match(played.place('b', { samples: 8_008 }), {
    stream_id: 'stream 1',
    sequence: 1,
    start_ms: 1_000,
    end_ms: 1_500,
  });
  t.match(played.place('c'), { sequence: 2, start_ms: 1_500, end_ms: 2_500, is_registered: true });
  t.match(played.place('a'), { stream_id: 'stream 1', is_registered: true });
});

t.test('K-417 another recording begins after a pause, with other samples, and after six hours', async (t) => {
  const played = new PlayedOmi();
  played.place('a');
  played.pass(OMI_PAUSE_MS - 1);
  t.match(played.place('b'), { stream_id: 'stream 1' });
  played.pass(OMI_PAUSE_MS);
  const began_at_ms = START_MS + 2 * OMI_PAUSE_MS - 1 - 1_000;
  t.match(played.place('c'), { stream_id: 'stream 3', sequence: 0, start_ms: 0, began_at_ms });
  t.match(played.place('d', { sample_rate: 8_000 }), { stream_id: 'stream 4', end_ms: 2_000 });
  t.match(played.place('e', { sample_rate: 8_000, samples: 6 * 3_600 * 8_000 }), { stream_id: 'stream 5' });
  played.ask({ type: 'audio_over', stream_id: 'stream 5' });
  t.match(played.place('e'), { stream_id: 'stream 6' }, 'one that is over takes nothing');
});

t.test('K-415 of two contents that come at once one is noted', async (t) => {
  const played = new PlayedOmi();
  const note = (was: string | null, content: string) =>
    played.send({ type: 'note_conversation', key: 'k', was, is: { content, made: null, going: null } }).reply;
  t.notOk(isRefusal(note(null, 'one')));
  t.match(note(null, 'two'), { refused: 'UNAVAILABLE' });
  t.notOk(isRefusal(note('one', 'two')));
  t.match(played.ask({ type: 'conversation', key: 'k' }), { known: { content: 'two' } });
  t.equal(played.state?.conversations, 1);
});
