import { isTooDeep, JSON_DEPTH_MAX } from '../json_depth.js';
import { addLine, type LineWord, NotATranscript, type TranscriptLine } from './lines.js';

/** Transcripts as JSON: of Whisper, WhisperX, whisper.cpp, Fireflies and omi. Members that are not known are not read. */

export type JsonTranscript = {
  form: 'whisper' | 'whisperx' | 'whisper.cpp' | 'fireflies' | 'omi';
  lines: TranscriptLine[];
  language: string | null;
  /** When the recording began, in ms since 1970. */
  recorded_ms: number | null;
};

type Json = Record<string, unknown>;

export function readJson(text: string): JsonTranscript {
  const value = parsed(text);
  const root = objectOf(value) ?? {};
  const transcript = objectOf(objectOf(root.data)?.transcript) ?? objectOf(root.transcript) ?? root;
  const { sentences } = transcript;
  if (Array.isArray(sentences)) return fireflies(sentences, transcript);
  if (Array.isArray(value) && objectOf(value[0])?.speaker_name !== undefined) return fireflies(value, {});
  if (Array.isArray(root.transcript_segments)) return omi(root.transcript_segments, root);
  if (Array.isArray(root.transcription)) return whisperCpp(root.transcription, root);
  if (Array.isArray(root.segments)) return whisper(root.segments, root);
  throw new NotATranscript('is JSON of a form that is not known');
}

/** whisper.cpp leaves control characters in its strings. */
function parsed(text: string): unknown {
  if (isTooDeep(text)) throw new NotATranscript(`is JSON in more than ${JSON_DEPTH_MAX} levels`);
  try {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    return JSON.parse(text.replace(/[\u0000-\u001f]/g, ' '));
  } catch {
    throw new NotATranscript('is no JSON');
  }
}

function whisper(segments: readonly unknown[], { language }: Json): JsonTranscript {
  const lines: TranscriptLine[] = [];
  let is_x = false;
  for (const one of segments) {
    const segment = objectOf(one);
    const [start_ms, end_ms] = [msOf(segment?.start), msOf(segment?.end)];
    if (segment === null || start_ms === null || end_ms === null)
      throw new NotATranscript('has a segment without times');
    const speaker = textOf(segment.speaker);
    is_x ||= speaker !== null;
    const words = wordsOf(segment.words);
    addLine(lines, { start_ms, end_ms, speaker, text: textOf(segment.text) ?? '', ...(words && { words }) });
  }
  return { form: is_x ? 'whisperx' : 'whisper', lines, language: textOf(language), recorded_ms: null };
}

/** Null where a word lacks its times: then none is of use. */
function wordsOf(words: unknown): LineWord[] | null {
  if (!Array.isArray(words)) return null;
  const found: LineWord[] = [];
  for (const one of words) {
    const word = objectOf(one);
    const [start_ms, end_ms, text] = [msOf(word?.start), msOf(word?.end), textOf(word?.word)];
    if (start_ms === null || end_ms === null || text === null || end_ms < start_ms) return null;
    if (start_ms < (found.at(-1)?.start_ms ?? 0)) return null;
    found.push({ text: text.trim(), start_ms, end_ms });
  }
  return found;
}

function whisperCpp(transcription: readonly unknown[], root: Json): JsonTranscript {
  const lines: TranscriptLine[] = [];
  for (const one of transcription) {
    const segment = objectOf(one);
    const offsets = objectOf(segment?.offsets);
    const [start_ms, end_ms] = [numberOf(offsets?.from), numberOf(offsets?.to)];
    if (segment === null || start_ms === null || end_ms === null)
      throw new NotATranscript('has a segment without offsets');
    addLine(lines, { start_ms, end_ms, speaker: textOf(segment.speaker), text: textOf(segment.text) ?? '' });
  }
  return { form: 'whisper.cpp', lines, language: textOf(objectOf(root.result)?.language), recorded_ms: null };
}

function fireflies(sentences: readonly unknown[], { date }: Json): JsonTranscript {
  const lines: TranscriptLine[] = [];
  for (const one of sentences) {
    const sentence = objectOf(one);
    const [start_ms, end_ms] = [msOf(sentence?.start_time), msOf(sentence?.end_time)];
    if (sentence === null || start_ms === null || end_ms === null)
      throw new NotATranscript('has a sentence without times');
    const { speaker_id: label } = sentence;
    const numbered = label === undefined || label === null ? null : `Speaker ${label}`;
    const text = textOf(sentence.text) ?? textOf(sentence.raw_text) ?? '';
    addLine(lines, { start_ms, end_ms, speaker: textOf(sentence.speaker_name) ?? numbered, text });
  }
  const at = typeof date === 'string' && !/^\d+$/.test(date) ? Date.parse(date) : numberOf(date);
  return { form: 'fireflies', lines, language: null, recorded_ms: at !== null && Number.isFinite(at) ? at : null };
}

function omi(segments: readonly unknown[], { started_at, created_at }: Json): JsonTranscript {
  const lines: TranscriptLine[] = [];
  for (const one of segments) {
    const segment = objectOf(one);
    const [start_ms, end_ms] = [msOf(segment?.start), msOf(segment?.end)];
    if (segment === null || start_ms === null || end_ms === null)
      throw new NotATranscript('has a segment without times');
    const speaker = textOf(segment.speaker_name) ?? textOf(segment.speaker);
    addLine(lines, { start_ms, end_ms, speaker, text: textOf(segment.text) ?? '' });
  }
  const at = Date.parse(utcText(textOf(started_at) ?? textOf(created_at) ?? ''));
  return { form: 'omi', lines, language: null, recorded_ms: Number.isFinite(at) ? at : null };
}

/** omi leaves the offset out where it means UTC. */
function utcText(time: string): string {
  return /T[\d:.]+$/.test(time) ? `${time}Z` : time;
}

function objectOf(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}

/** Numbers are written as strings, too. */
function numberOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.round(number) : null;
}

/** Seconds in ms. */
function msOf(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? Math.round(number * 1_000) : null;
}
