import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { attributionOf, contactOf, speakerShown } from '../../../actors/transcripts/transcript_attribution.js';
import type { PageTurn } from '../../../actors/transcripts/transcript_page.js';
import type { Principal } from '../../access/principal.js';
import { count, id } from '../../access/response_schemas.js';
import { addInterval, type Interval } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import type { FeatureServices } from '../services.js';
import type { TranscriberShown } from './engines/choose_engine.js';
import { toldSpeakersShape, viewTelling } from './speaker_telling.js';
import { type Contacts, namesOf, pagesFrom, type ReadableTranscript } from './transcript_pages.js';
import { readableTranscript, requestedTranscript, type TranscriptQuery } from './transcript_reading.js';

export const engineLanguages = z
  .array(z.string())
  .nullable()
  .describe('BCP 47 tags of the languages that the engine knows; null where it knows many or does not say.');
export const engineModel = z.string().nullable().describe('The model of the built-in engine; null for any other.');
const interval = z.tuple([count, count]);
const intervals = (meaning: string) => z.array(interval).describe(`${meaning}: from and to, in ms.`);

/** The progress of a stream's transcript, and its speakers. */
export const transcriptShape = z
  .strictObject({
    stream_id: id.describe('The stream.'),
    revision: count.describe('Rises with every change; 0 while there is nothing.'),
    languages: z.array(z.string()).describe('BCP 47 tags of what was said.'),
    speakers: z
      .array(
        z.strictObject({
          speaker: z.string().describe('Such as S1.'),
          contact_id: id
            .nullable()
            .describe('Who it is; null where nobody knows, and to other members of the workspace.'),
          name: z.string().nullable().describe("The contact's name."),
          attribution: z
            .enum(['none', 'detected', 'recognized', 'manual'])
            .describe('detected: heard as one speaker; recognized: by the voice; manual: as a person said.'),
          turns: count.describe('How many are of this speaker.'),
          talk_ms: count.describe('How long the speaker talks in all.'),
        }),
      )
      .describe('Who speaks, in the order in which they begin.'),
    covered: intervals('What was transcribed'),
    waiting: intervals('Audio that is to be transcribed'),
    failed: z
      .array(
        z.strictObject({
          from_ms: count.describe('Where it begins, in ms of the timeline.'),
          to_ms: count.describe('Where it ends.'),
          code: z.string().describe('Why, such as ENGINE_REFUSED.'),
        }),
      )
      .describe('Audio that could not be transcribed, and why.'),
    expired: intervals('What the workspace does not keep any longer'),
    engine: z
      .string()
      .nullable()
      .describe('What transcribes here: server, program, built_in or workers; null where nothing does.'),
    engine_languages: engineLanguages,
    tells_speakers: z.boolean().describe('Whether this server tells speakers apart by their number.'),
    told_speakers: toldSpeakersShape
      .nullable()
      .describe('Speakers told apart by their number; null where nobody asked.'),
  })
  .meta({ id: 'Transcript' });

export type TranscriptView = z.infer<typeof transcriptShape>;
type SpeakerView = TranscriptView['speakers'][number];

/** A stream's transcript as a whole: that of the default pipeline, or what another one has heard itself. */
export async function readTranscript(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & { transcriber: TranscriberShown },
  who: Principal,
  query: TranscriptQuery,
): Promise<TranscriptView> {
  const readable = await requestedTranscript(services, who, query);
  return summarize(services, who, readable);
}

/** The recording of a transcript, and the ms of its audio that are still to be transcribed. */
export async function transcriptProgress(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  stream_id: string,
): Promise<{ title: string | null; captured_at: string; waiting_ms: number }> {
  const { stream, transcript } = await readableTranscript(services, who, stream_id);
  const waiting_ms = transcript?.waiting.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0) ?? 0;
  return { title: stream.title, captured_at: stream.captured_at, waiting_ms };
}

async function summarize(
  services: Pick<FeatureServices, 'actors' | 'runtime'> & { transcriber: TranscriberShown },
  { account_id }: Principal,
  readable: ReadableTranscript,
): Promise<TranscriptView> {
  const { transcriber } = services;
  const { stream, transcript, speakers } = readable;
  const languages = new Set<string>();
  const spoken = new Map<string, { turn: PageTurn; turns: number; talk_ms: number }>();
  let expired: Interval[] = [];
  for await (const page of pagesFrom(services, readable, { page: 0 })) {
    for (const span of page.expired.spans) expired = addInterval(expired, span, LIMITS.transcript_intervals_max);
    for (const turn of page.turns) {
      if (turn.language !== null) languages.add(turn.language);
      const name = speakerShown(speakers, turn);
      if (name === null) continue;
      const known = spoken.get(name) ?? { turn: uncorrected(turn), turns: 0, talk_ms: 0 };
      spoken.set(name, { ...known, turns: known.turns + 1, talk_ms: known.talk_ms + turn.end_ms - turn.start_ms });
    }
    await setImmediate(); // a long recording holds nobody up
  }
  const contacts = await namesOf(
    services,
    readable,
    [...spoken.values()].map(({ turn }) => turn),
  );
  const is_owner = stream.account_id === account_id;
  return {
    stream_id: stream.id,
    revision: transcript?.revision ?? 0,
    languages: [...languages].sort(),
    speakers: [...spoken].map(([speaker, said]) => speakerView({ speaker, readable, contacts, is_owner }, said)),
    covered: transcript?.covered ?? [],
    waiting: transcript?.waiting.map(({ from_ms, to_ms }): Interval => [from_ms, to_ms]) ?? [],
    failed: transcript?.failed ?? [],
    expired,
    engine: transcriber.by === 'nobody' ? null : transcriber.by,
    engine_languages: transcriber.languages,
    tells_speakers: transcriber.tells_speakers,
    told_speakers: toldIn(stream.id, transcript),
  };
}

function toldIn(stream_id: string, transcript: ReadableTranscript['transcript']): TranscriptView['told_speakers'] {
  return transcript?.telling === undefined ? null : viewTelling(stream_id, transcript.telling);
}

/** The turn without what somebody said of it alone. */
function uncorrected({ contact_id: _, speaker_is_manual: __, ...turn }: PageTurn): PageTurn {
  return turn;
}

type Shown = { speaker: string; readable: ReadableTranscript; contacts: Contacts; is_owner: boolean };

/** `turn`: one of the speaker's, as if nobody had said anything of it alone. */
function speakerView(
  { speaker, readable, contacts, is_owner }: Shown,
  { turn, turns, talk_ms }: { turn: PageTurn; turns: number; talk_ms: number },
): SpeakerView {
  const held = contactOf(readable.speakers, turn);
  const contact = held === null ? null : (contacts[held] ?? null);
  return {
    speaker,
    contact_id: is_owner ? (contact?.id ?? null) : null,
    name: contact?.name ?? null,
    attribution: attributionOf(readable.speakers, turn),
    turns,
    talk_ms,
  };
}
