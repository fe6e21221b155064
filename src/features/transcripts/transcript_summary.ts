import { setImmediate } from 'node:timers/promises';
import {
  type Attribution,
  attributionOf,
  contactOf,
  speakerShown,
} from '../../../actors/transcripts/transcript_attribution.js';
import type { PageTurn } from '../../../actors/transcripts/transcript_page.js';
import type { Principal } from '../../access/principal.js';
import { addInterval, type Interval } from '../../domain/intervals.js';
import { LIMITS } from '../../domain/limits.js';
import type { FeatureServices as Services } from '../services.js';
import { transcriberOf } from './engines/choose_engine.js';
import { type Contacts, namesOf, pagesFrom, type Scene } from './transcript_pages.js';

/** How far a stream's transcript has come, and who speaks in it. Intervals are ms of the timeline. */
export type TranscriptSummary = {
  stream_id: string;
  revision: number;
  languages: string[];
  speakers: SpeakerView[];
  covered: Interval[];
  waiting: Interval[];
  failed: { from_ms: number; to_ms: number; code: string }[];
  expired: Interval[];
  engine: string | null;
};

export type SpeakerView = {
  speaker: string;
  contact_id: string | null;
  name: string | null;
  attribution: Attribution;
  turns: number;
  talk_ms: number;
};

export async function summarize(
  services: Services,
  { account_id }: Principal,
  scene: Scene,
): Promise<TranscriptSummary> {
  const { stream, transcript, speakers } = scene;
  const languages = new Set<string>();
  const spoken = new Map<string, { turn: PageTurn; turns: number; talk_ms: number }>();
  let expired: Interval[] = [];
  for await (const page of pagesFrom(services, scene, { page: 0 })) {
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
    scene,
    [...spoken.values()].map(({ turn }) => turn),
  );
  const is_owner = stream.account_id === account_id;
  return {
    ...{ stream_id: stream.id, revision: transcript?.revision ?? 0, languages: [...languages].sort() },
    speakers: [...spoken].map(([speaker, said]) => speakerView({ speaker, scene, contacts, is_owner }, said)),
    covered: transcript?.covered ?? [],
    waiting: transcript?.waiting.map(({ from_ms, to_ms }): Interval => [from_ms, to_ms]) ?? [],
    failed: transcript?.failed ?? [],
    expired,
    engine: engineName(services),
  };
}

/** What makes text of audio here; null where nothing does. */
function engineName({ settings }: Pick<Services, 'settings'>): string | null {
  const { by } = transcriberOf(settings);
  return by === 'nobody' ? null : by;
}

/** The turn without what somebody said of it alone. */
function uncorrected({ contact_id: _, speaker_is_manual: __, ...turn }: PageTurn): PageTurn {
  return turn;
}

type Shown = { speaker: string; scene: Scene; contacts: Contacts; is_owner: boolean };

/** `turn`: one of the speaker's, as if nobody had said anything of it alone. */
function speakerView(
  { speaker, scene, contacts, is_owner }: Shown,
  { turn, turns, talk_ms }: { turn: PageTurn; turns: number; talk_ms: number },
): SpeakerView {
  const held = contactOf(scene.speakers, turn);
  const contact = held === null ? null : (contacts[held] ?? null);
  return {
    ...{ speaker, contact_id: is_owner ? (contact?.id ?? null) : null, name: contact?.name ?? null },
    ...{ attribution: attributionOf(scene.speakers, turn), turns, talk_ms },
  };
}
