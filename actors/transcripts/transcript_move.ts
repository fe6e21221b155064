import { libraryId, pipelineOutputId } from '../../src/domain/ids.js';
import type { StreamMove } from '../../src/domain/moves.js';
import { leftMember, SEARCH_INDEX } from '../../src/domain/search/places.js';
import { DONE, type DoneDecision, type Effect, type Facts, messagesOf } from '../actor.js';
import { changedMember } from './transcript_block.js';
import { dueEffect, listed } from './transcript_publication.js';
import { notFoundAnyMore, searchedPages } from './transcript_search.js';
import type { Transcript } from './transcript_state.js';

/** `outputs`: those of other pipelines that are still to be moved; absent in the message to the stream's own transcript. */
type TranscriptMove = StreamMove & { outputs?: string[] };

/**
 * A transcript follows its recording to another workspace. The library that it leaves is told last, so that it has heard
 * all that these transcripts told it before.
 */
export const moveMessages = messagesOf<Transcript>()({
  move: {
    records: () => searchedPages,
    decide(state, { outputs, ...move }: TranscriptMove, facts): DoneDecision<Transcript> {
      const { stream_id, account_id, from } = move;
      const numbers = state?.pipeline_output === null ? state.pipeline_outputs : [];
      const [next_output, ...others] = outputs ?? numbers.map((number) => pipelineOutputId(stream_id, number));
      const then: Effect =
        next_output === undefined
          ? {
              effect: 'notify',
              to: { kind: 'library', id: libraryId(account_id, from) },
              message: { type: 'move_out', ...move },
            }
          : {
              effect: 'notify',
              to: { kind: 'transcript', id: next_output },
              message: { type: 'move', ...move, outputs: others },
            };
      if (state === null || isOfAnother(state, stream_id)) return { reply: DONE, effects: [then] };
      const next = { ...state, workspace_id: move.to };
      return { reply: DONE, next, effects: [...carried(state, next, facts), then] };
    },
  },
});

/** Two streams may have the id of a pipeline output in common. */
function isOfAnother({ pipeline_output }: Transcript, stream_id: string): boolean {
  return pipeline_output !== null && pipeline_output.stream_id !== stream_id;
}

/** Takes it from the lists and the search index of one workspace to those of another. */
function carried(was: Transcript, is: Transcript, facts: Facts): Effect[] {
  const { self } = facts;
  const pages = facts.range('published');
  const [left, joined] = [was, is].map(({ account_id, workspace_id }) => ({
    owner: libraryId(account_id, workspace_id),
    index: SEARCH_INDEX,
    member: leftMember(self),
  })) as [SearchMember, SearchMember];
  return [
    ...notFoundAnyMore(was, facts),
    { effect: 'mark_changed', ...left },
    { effect: 'remove_from_index', ...joined },
    ...pages.map(({ id }) => changedMember(is, id, self)),
    ...listed({ ...was, turns: 0 }, self),
    ...(is.turns > 0 ? listed(is, self) : []),
    dueEffect(was, null, self),
    ...(is.oldest === null ? [] : [dueEffect(is, is.oldest, self)]),
  ];
}

type SearchMember = { owner: string; index: string; member: string };
