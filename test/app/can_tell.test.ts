import t from 'tap';
import { canTell } from '../../app/recording/can_tell.js';
import type { Transcript, Turn } from '../../kits/typescript/src/api.js';

/** Recordings for which the app offers to tell speakers apart. */

type Told = NonNullable<Transcript['told_speakers']>;
const turns = [{}] as Turn[];
const transcript = (more: Partial<Transcript> = {}) =>
  ({ tells_speakers: true, speakers: [], told_speakers: null, waiting: [], ...more }) as unknown as Transcript;
const told = (state: Told['state']) => transcript({ told_speakers: { state } as Told, speakers: [{}] as never });

t.test('K-465 the app offers to tell speakers apart where nobody has done it and a person may ask', async (t) => {
  t.equal(canTell(transcript(), turns), true);
  t.equal(canTell(transcript({ tells_speakers: false }), turns), false, 'no models');
  t.equal(canTell(transcript(), []), false, 'no text');
  t.equal(canTell(transcript({ waiting: [{}] as never }), turns), false, 'its text is being made');
  t.equal(canTell(transcript({ speakers: [{}] as never }), turns), false, 'an engine has told them apart');
});

t.test('K-465 what was told apart is shown until it is undone', async (t) => {
  t.equal(canTell(told('under_way'), turns), true);
  t.equal(canTell(told('done'), turns), true);
  t.equal(canTell(told('undone'), turns), false, 'of others there are speakers');
  t.equal(canTell(told('failed'), turns), false);
  for (const state of ['undone', 'failed'] as const)
    t.equal(
      canTell(transcript({ told_speakers: { state } as Told }), turns),
      true,
      `${state}: it may be asked for again`,
    );
});
