import { addLine, clockMs, NotATranscript, type TranscriptLine, withLabels } from './lines.js';

/** WebVTT and SubRip, as Zoom, Teams, Otter and others write them. */

const ARROW = /^\s*(?<from>[\d:.,]+)\s*-->\s*(?<to>[\d:.,]+)(?:\s.*)?$/;
const NOT_CUES = /^(NOTE|STYLE|REGION)(\s|$)/;
const VOICE = /^<v(?:\.[^\s>]*)?\s+(?<name>[^>]+)>/i;
/** A name alone on the first line, in brackets. */
const IN_BRACKETS = /^\((?<name>[\p{L}][^()]{0,58})\)$/u;
const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  lrm: '',
  rlm: '',
};
/** Numbers of cues, and those that programs make. */
const MADE_ID = /^(\d+|[0-9a-f]{8}-[0-9a-f-]{27}(\/\S*)?|[\w-]*\d[\w-]*)$/i;

/** More than lines may be: cues of one sentence are joined. */
const CUES_MAX = 100_000;

type Cue = { id: string | null; start_ms: number; end_ms: number; text: string[] };

export function readCues(text: string): TranscriptLine[] {
  return linesOf(cuesOf(text));
}

function cuesOf(text: string): Cue[] {
  const cues: Cue[] = [];
  let before: string | null = null;
  let open: Cue | null = null;
  let is_passed_over = false;
  for (const line of linesIn(text)) {
    if (line.trim() === '') {
      [before, open, is_passed_over] = [null, null, false];
      continue;
    }
    const arrow = ARROW.exec(line)?.groups;
    if (arrow !== undefined) {
      const [start_ms, end_ms] = [clockMs(arrow.from as string), clockMs(arrow.to as string)];
      if (start_ms === null || end_ms === null)
        throw new NotATranscript(`has a time that is none: ${line.slice(0, 60)}`);
      // Without an empty line between two cues the number of the next one stands at the end of this one.
      if (open !== null && /^\d+$/.test(open.text.at(-1) ?? '')) before = open.text.pop() ?? null;
      open = { id: before, start_ms, end_ms, text: [] };
      cues.push(open);
    } else if (open !== null) open.text.push(line);
    else {
      is_passed_over ||= NOT_CUES.test(line);
      before = is_passed_over ? null : line.trim();
    }
    if (cues.length > CUES_MAX) throw new NotATranscript(`has more than ${CUES_MAX} cues`);
  }
  return cues;
}

export function* linesIn(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = at;
    while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end++;
    yield text.slice(at, end);
    at = end + (text[end] === '\r' && text[end + 1] === '\n' ? 2 : 1);
  }
}

function linesOf(cues: readonly Cue[]): TranscriptLine[] {
  const ids = new Map<string, number>();
  for (const { id } of cues) if (id !== null && !MADE_ID.test(id)) ids.set(id, (ids.get(id) ?? 0) + 1);
  // Ids that come again are names: those of cues are each another.
  const are_names = [...ids.values()].some((times) => times > 1);
  const lines: TranscriptLine[] = [];
  for (const { id, start_ms, end_ms, text } of cues) {
    const said = text.join('\n');
    const [first = '', ...others] = text;
    const in_brackets = others.length > 0 ? IN_BRACKETS.exec(first.trim())?.groups?.name : undefined;
    const by_id = are_names && id !== null && ids.has(id) ? id : null;
    const speaker = in_brackets ?? by_id;
    for (const part of voicesOf(in_brackets === undefined ? said : others.join('\n'))) {
      const text = plainOf(part.text);
      if (text !== '') addLine(lines, { start_ms, end_ms, speaker: part.voice ?? speaker, text });
    }
  }
  return withLabels(lines);
}

/** The parts of a cue, each with the voice that says it. */
function voicesOf(said: string): { voice: string | null; text: string }[] {
  const parts = said.split(/(?=<v[.\s])/i);
  return parts.map((part) => {
    const name = VOICE.exec(part)?.groups?.name;
    return { voice: name === undefined ? null : plainOf(name), text: part };
  });
}

/** Without tags, and with characters in place of entities. */
function plainOf(text: string): string {
  return text
    .replace(/<[^>\n]{0,200}>/g, '')
    .replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,5}));/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      return code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : ' ';
    })
    .trim();
}
