import { LIMITS } from '../../src/domain/limits.js';
import { BLOCKS } from '../../src/domain/search/places.js';
import { VECTORS, VECTORS_DUE } from '../../src/domain/search/vectors.js';
import { DONE, defineActor, type Effect, type MessageOf, type RangeQuery } from '../actor.js';
import { ANNOUNCEMENT_INDEX } from './announcement_index.js';
import { allSpeakers, announcementMember, announcementMessages, contactLists } from './transcript_announcements.js';
import { correctionMessages, type PlacedTurn, pageRecords, speakersIn, turnAt } from './transcript_corrections.js';
import { deletionMessages } from './transcript_deletions.js';
import { expiryMessages } from './transcript_expiry.js';
import { moveMessages } from './transcript_move.js';
import { pageKey, readPage, readWords, type TranscriptPage } from './transcript_page.js';
import { pipelineMessages } from './transcript_pipelines.js';
import { dueEffect, listed, publicationMessages } from './transcript_publication.js';
import { runMessages } from './transcript_runs.js';
import { notFoundAnyMore, searchedPages } from './transcript_search.js';
import { NO_TURN, ofTranscript, TELLING_INDEX, TRANSCRIBING_INDEX, type Transcript } from './transcript_state.js';
import { tellingMessages } from './transcript_telling.js';
import { vectorMessages } from './transcript_vectors.js';
import { windowMessages } from './transcript_windows.js';
import { VECTORS_INDEX } from './vectors_index.js';

export type TranscriptMessage = MessageOf<typeof transcript>;

/** Rules K-005, K-011 and K-031; docs/areas.md, "Transcripts". */
export const transcript = defineActor<Transcript>()({
  kind: 'transcript',
  home: 'id',
  schema: 1,
  messages: {
    ...windowMessages,
    ...publicationMessages,
    ...correctionMessages,
    ...deletionMessages,
    ...announcementMessages,
    ...expiryMessages,
    ...runMessages,
    ...pipelineMessages,
    ...vectorMessages,
    ...tellingMessages,
    ...moveMessages,

    view: { reads: true, decide: ofTranscript((state) => ({ reply: state })) },

    /** Gives the transcript's revision; 0 where there is no transcript. */
    revision: { reads: true, decide: (state) => ({ reply: { revision: state?.revision ?? 0 } }) },

    /** A run of pages, with the revision that they are of. */
    pages: {
      records: ({ range }: { range: RangeQuery }) => [{ collection: 'pages', range }],
      decide(state, _: { range: RangeQuery }, facts) {
        const pages = facts.range<unknown>('pages').map(({ order, value }): TranscriptPage => readPage(order, value));
        return { reply: { pages, revision: state?.revision ?? 0 } };
      },
    },

    turn: {
      reads: true,
      records: pageRecords,
      decide: (state, place: PlacedTurn, facts) => {
        const found = state === null ? NO_TURN : turnAt(place, facts);
        if ('refused' in found) return { reply: found };
        return { reply: { turn: found.said, words: found.words.get(place.serial) ?? null } };
      },
    },

    /** The words of a page's turns. */
    words: {
      reads: true,
      records: pageRecords,
      decide: (_, { page }: { page: number }, facts) => ({
        reply: { words: readWords(page, facts.record('words', pageKey(page))) },
      }),
    },

    /** Reads the speakers, by number. */
    speakers: {
      records: allSpeakers,
      decide: (state, _: unknown, facts) => ({
        reply: { speakers: speakersIn(facts), revision: state?.revision ?? 0 },
      }),
    },

    erase: {
      records: () => searchedPages,
      decide(state, _: unknown, facts) {
        if (state === null) return { reply: DONE };
        const { self } = facts;
        const collections = ['pages', 'words', BLOCKS, VECTORS, VECTORS_DUE, 'published', 'runs', 'speakers'];
        const effects: Effect[] = [
          ...collections.map((collection): Effect => ({ effect: 'delete_collection', collection })),
          { effect: 'remove_from_index', ...TRANSCRIBING_INDEX, member: self },
          { effect: 'remove_from_index', ...VECTORS_INDEX, member: self },
          { effect: 'remove_from_index', ...TELLING_INDEX, member: self },
          { effect: 'remove_from_index', ...ANNOUNCEMENT_INDEX, member: announcementMember(self) },
          ...notFoundAnyMore(state, facts),
          ...listed({ ...state, turns: 0 }, self),
          ...contactLists(state, self),
          dueEffect(state, null, self),
          { effect: 'delete' },
        ];
        return { reply: DONE, next: null, effects };
      },
    },
  },

  invariant({ turns, waiting, speakers }) {
    if (turns < 0) return 'less than no turns';
    if (waiting.length > LIMITS.transcript_intervals_max) return 'too much waits';
    return speakers > LIMITS.speakers_per_stream_max ? 'too many speakers' : null;
  },
});
