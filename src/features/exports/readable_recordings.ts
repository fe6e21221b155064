import type { Principal } from '../../access/principal.js';
import { isRefused } from '../../domain/refusals.js';
import { clockOf } from '../accounts/account_clock.js';
import { withSuggestedTitles } from '../insights/reading/stream_titles.js';
import type { StreamView } from '../recordings/streams.js';
import type { FeatureServices } from '../services.js';
import { type SpokenTurn, type TranscriptHead, transcriptHead, visible } from '../transcripts/transcript_markdown.js';
import type { TurnView } from '../transcripts/turn_shape.js';

/**
 * Recordings of an account as files for people: a text for each, and one page that lists them. Rules D-072 and D-073.
 */

/** Characters of a title in the name of a file: with four bytes each, a name stays below the 255 bytes of file systems. */
const TITLE_IN_NAME_MAX = 50;

export type RecordingHead = TranscriptHead & {
  stream_id: string;
  began_at_ms: number;
  starred: boolean;
  tags: readonly string[];
};

/** A recording in the list. `transcript`: the path of its text; null if nothing was said. */
export type ListedRecording = RecordingHead & { transcript: string | null };

export async function recordingHead(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  stream: StreamView,
): Promise<RecordingHead> {
  const clock = await clockOf(services, who.account_id, stream.id);
  const suggested = stream.title === null ? await suggestedTitle(services, who, stream) : null;
  const { title, captured_at, end_ms = null } = stream;
  return {
    stream_id: stream.id,
    began_at_ms: Date.parse(captured_at),
    starred: stream.starred ?? false,
    tags: stream.tags ?? [],
    ...transcriptHead({ title: title ?? suggested, captured_at, end_ms }, clock),
  };
}

/** Null if no title is suggested, or the recording was deleted meanwhile. */
async function suggestedTitle(
  services: Pick<FeatureServices, 'actors' | 'runtime'>,
  who: Principal,
  stream: StreamView,
): Promise<string | null> {
  try {
    const [titled] = await withSuggestedTitles(services, who, [stream]);
    return titled?.title_suggested ?? null;
  } catch (error) {
    if (isRefused(error, 'NOT_FOUND')) return null;
    throw error;
  }
}

/** All speakers, in the order in which they begin. */
export async function speakersOf(turns: AsyncIterable<TurnView>): Promise<{ turns: number; speakers: Set<string> }> {
  const speakers = new Set<string>();
  let count = 0;
  for await (const turn of turns) {
    count += 1;
    const speaker = speakerOf(turn);
    if (speaker !== null) speakers.add(speaker);
  }
  return { turns: count, speakers };
}

export async function* spokenTurns(turns: AsyncIterable<TurnView>): AsyncGenerator<SpokenTurn> {
  for await (const turn of turns) yield { start_ms: turn.start_ms, name: speakerOf(turn), text: turn.text };
}

function speakerOf({ speaker_name, speaker }: TurnView): string | null {
  return speaker_name ?? speaker;
}

/**
 * The name of a recording's file, without its extension: the day and the title, in a form that every system can unpack.
 */
export function transcriptName({ day, title }: Pick<RecordingHead, 'day' | 'title'>, safe: (name: string) => string) {
  const short = [...title.replaceAll(/\s+/g, ' ')].slice(0, TITLE_IN_NAME_MAX).join('').trim();
  return safe(`${day} ${short}`);
}

const STYLE = [
  'body{background:Canvas;color:CanvasText;font:1rem/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 1rem}',
  'ul{padding:0;list-style:none}li{margin:0 0 1rem}h2{font-size:1.1rem;margin:2rem 0 .5rem}',
  'p{margin:.15rem 0}.facts{opacity:.8}details a{margin-right:.75rem}',
].join('');

/** A page that lists the recordings, the newest day first. `audio`: paths of a recording's audio. */
export function* recordingsPage(
  recordings: readonly ListedRecording[],
  { made_on, audio }: { made_on: string; audio: ReadonlyMap<string, readonly string[]> },
): Generator<string> {
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Your recordings</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Your recordings</h1>
<p>An export of ${inHtml(made_on)}. What programs read is in the files that end in <code>.ndjson</code>; <a href="manifest.json">manifest.json</a> lists all files.</p>
`;
  if (recordings.length === 0) yield '<p>There are no recordings.</p>\n';
  let day: string | null = null;
  for (const recording of recordings.toSorted((a, b) => b.began_at_ms - a.began_at_ms)) {
    if (recording.day !== day) yield `${day === null ? '' : '</ul>\n'}<h2>${inHtml(recording.day)}</h2>\n<ul>\n`;
    day = recording.day;
    yield recordingRow(recording, audio.get(recording.stream_id) ?? []);
  }
  yield `${day === null ? '' : '</ul>\n'}</main>\n</body>\n</html>\n`;
}

function recordingRow(
  { title, time, length, transcript, starred, tags }: ListedRecording,
  audio: readonly string[],
): string {
  const name = transcript === null ? inHtml(title) : linkTo(transcript, title);
  const said = transcript === null ? ['nothing was said'] : [];
  const facts = [time, ...(length === null ? [] : [length]), ...said, ...(starred ? ['starred'] : []), ...tags];
  const pieces = audio.map((path, index) => linkTo(path, `Piece ${index + 1}`)).join(' ');
  const listen = audio.length === 0 ? '' : `\n<details><summary>Audio</summary>${pieces}</details>`;
  return `<li><p>${name}</p>\n<p class="facts">${facts.map(inHtml).join(' · ')}</p>${listen}</li>\n`;
}

function linkTo(path: string, words: string): string {
  return `<a href="${inHtml(path.split('/').map(encodeURIComponent).join('/'))}">${inHtml(words)}</a>`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function inHtml(text: string): string {
  return visible(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
