import { pipelineId, timeOfId } from '../../src/domain/ids.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Refusal, refuse } from '../../src/domain/refusals.js';
import {
  type Decision,
  DONE,
  defineActor,
  type Effect,
  type Facts,
  type MessageOf,
  type RangeQuery,
} from '../actor.js';
import { type Context, type ContextItem, firstPipeline, type Pipeline, type Profile } from './context_state.js';

export type ContextMessage = MessageOf<typeof context>;

/** The fields of a profile that people save; an absent time zone stays as it is. */
export type ProfileText = Pick<Profile, 'about' | 'languages' | 'vocabulary'> & {
  time_zone?: string | null | undefined;
};
export type KeptItem = ContextItem & { id: string };

/**
 * The fields of a request to make or change a pipeline. Absent fields stay as they are, or get their default in a new
 * pipeline.
 */
export type PipelineTerms = {
  name?: string | undefined;
  transcription?: Some<Pipeline['transcription']> | undefined;
  /** Null for a pipeline without insights. */
  insights?: Some<NonNullable<Pipeline['insights']>> | null | undefined;
};
type Some<T> = { [Name in keyof T]?: T[Name] | undefined };

const PROFILES = 'profiles';
const ITEMS = 'items';
const NO_PIPELINE = refuse('NOT_FOUND', 'There is no such pipeline.');
const NO_ITEM = refuse('NOT_FOUND', 'There is no such context item.');
const TOO_MANY_PIPELINES = refuse('CONFLICT', `An account has at most ${LIMITS.pipelines_per_account_max} pipelines.`);
const TOO_MANY_ITEMS = refuse('CONFLICT', `An account has at most ${LIMITS.context_items_max} context items.`);
const DEFAULT_STAYS = refuse('CONFLICT', 'The default pipeline can not be archived; make another the default first.');
const IS_ARCHIVED = refuse('CONFLICT', 'An archived pipeline can not be the default.');

/** Rules K-012 and K-013; docs/choices.md, "Pipelines and profile". */
export const context = defineActor<Context>()({
  kind: 'context',
  home: 'id',
  schema: 1,
  messages: {
    /** Reads the context; an account that has saved nothing has that of `newContext`. */
    view: { reads: true, decide: (state, _: unknown, { self }) => ({ reply: state ?? newContext(self) }) },

    context_items: {
      reads: true,
      records: () => [allItems()],
      decide(state, _: unknown, facts) {
        const items = facts.range<ContextItem>(ITEMS).map(({ id, value }): KeptItem => ({ id, ...value }));
        return { reply: { version: state?.version ?? 0, items } };
      },
    },

    /** Lists saved revisions, the present one included. */
    profile_revisions: {
      reads: true,
      records: ({ range }: { range: RangeQuery }) => [{ collection: PROFILES, range }],
      decide: (_, __: { range: RangeQuery }, facts) => ({ reply: { revisions: facts.range<Profile>(PROFILES) } }),
    },

    /** `revision`: the revision that the caller has read. */
    save_profile(
      state,
      { revision, ...saying }: ProfileText & { revision: number },
      facts,
    ): Decision<Context, Profile> {
      const before = state ?? newContext(facts.self);
      const { profile } = before;
      const { time_zone = profile.time_zone, ...others } = saying;
      const text = { ...others, time_zone };
      if (revision !== profile.revision)
        return {
          reply: refuse('CONFLICT', 'The profile has another revision.', { extra: { revision: profile.revision } }),
        };
      const changed_fields = changedFields(profile, text);
      if (changed_fields.length === 0) return { reply: profile };
      const saved: Profile = { ...text, revision: revision + 1, updated_at_ms: facts.now_ms };
      const data = { revision: saved.revision, changed_fields };
      const oldest = saved.revision - LIMITS.profile_revisions_kept_max;
      return {
        reply: saved,
        next: { ...before, profile: saved },
        effects: [
          {
            effect: 'put_record',
            collection: PROFILES,
            id: revisionKey(saved.revision),
            value: saved,
            order: saved.revision,
          },
          ...(oldest > 0 ? [{ effect: 'delete_record' as const, collection: PROFILES, id: revisionKey(oldest) }] : []),
          {
            effect: 'append_event',
            account_id: facts.self,
            type: 'suggestion_profile.updated',
            resource_id: facts.self,
            data,
          },
        ],
      };
    },

    create_item: {
      records: ({ item_id }: NewItem) => [itemRecord(item_id)],
      decide(state, { item_id, text }: NewItem, facts): Decision<Context, KeptItem> {
        const known = facts.record<ContextItem>(ITEMS, item_id);
        if (known !== undefined) return { reply: { id: item_id, ...known } };
        const before = state ?? newContext(facts.self);
        if (before.items >= LIMITS.context_items_max) return { reply: TOO_MANY_ITEMS };
        const item: ContextItem = { text, created_at_ms: facts.now_ms, updated_at_ms: facts.now_ms };
        const changed = itemsChanged({ ...before, items: before.items + 1 }, facts);
        return { reply: { id: item_id, ...item }, ...changed, effects: [putItem(item_id, item), ...changed.effects] };
      },
    },

    edit_item: {
      records: ({ item_id }: NewItem) => [itemRecord(item_id)],
      decide(state, { item_id, text }: NewItem, facts): Decision<Context, KeptItem> {
        const item = facts.record<ContextItem>(ITEMS, item_id);
        if (state === null || item === undefined) return { reply: NO_ITEM };
        if (item.text === text) return { reply: { id: item_id, ...item } };
        const edited: ContextItem = { ...item, text, updated_at_ms: facts.now_ms };
        const changed = itemsChanged(state, facts);
        return {
          reply: { id: item_id, ...edited },
          ...changed,
          effects: [putItem(item_id, edited), ...changed.effects],
        };
      },
    },

    delete_item: {
      records: ({ item_id }: { item_id: string }) => [itemRecord(item_id)],
      decide(state, { item_id }: { item_id: string }, facts): Decision<Context, typeof DONE> {
        if (state === null || facts.record(ITEMS, item_id) === undefined) return { reply: NO_ITEM };
        const changed = itemsChanged({ ...state, items: state.items - 1 }, facts);
        const gone: Effect = { effect: 'delete_record', collection: ITEMS, id: item_id };
        return { reply: DONE, ...changed, effects: [gone, ...changed.effects] };
      },
    },

    create_pipeline(state, terms: PipelineTerms & { name: string }, facts): Decision<Context, Pipeline> {
      const before = state ?? newContext(facts.self);
      if (before.pipelines.length >= LIMITS.pipelines_per_account_max) return { reply: TOO_MANY_PIPELINES };
      const number = before.numbers + 1;
      const blank = { ...firstPipeline(facts.now_ms), number, default: false };
      const made: Pipeline = { ...blank, ...settled(blank, terms) };
      return {
        reply: made,
        next: { ...before, numbers: number, pipelines: [...before.pipelines, made] },
        effects: [pipelineEvent('pipeline.created', made, facts)],
      };
    },

    edit_pipeline(state, { number, ...edit }: PipelineEdit & { number: number }, facts): Decision<Context, Pipeline> {
      return editPipeline(state ?? newContext(facts.self), { number, ...edit }, facts);
    },

    /** Ends with its account. */
    erase(state): Decision<Context, { left: boolean }> {
      if (state === null) return { reply: { left: false } };
      const collections = [PROFILES, ITEMS];
      const effects = collections.map((collection): Effect => ({ effect: 'delete_collection', collection }));
      return { reply: { left: false }, next: null, effects: [...effects, { effect: 'delete' }] };
    },
  },

  invariant({ pipelines, items }) {
    if (pipelines.filter((pipeline) => pipeline.default && !pipeline.archived).length !== 1)
      return 'not one default pipeline';
    if (pipelines.length > LIMITS.pipelines_per_account_max) return 'too many pipelines';
    return items < 0 || items > LIMITS.context_items_max ? 'too many or too few context items' : null;
  },
});

type NewItem = { item_id: string; text: string };
type PipelineEdit = PipelineTerms & { default?: true | undefined; archived?: boolean | undefined };

/** The context of an account that has saved nothing: its first pipeline is as old as the account. */
export function newContext(account_id: string): Context {
  const profile: Profile = {
    revision: 0,
    about: null,
    languages: [],
    vocabulary: [],
    time_zone: null,
    updated_at_ms: null,
  };
  return { pipelines: [firstPipeline(timeOfId(account_id))], numbers: 1, profile, version: 0, items: 0 };
}

export function defaultPipeline({ pipelines }: Context): Pipeline {
  return pipelines.find((pipeline) => pipeline.default) as Pipeline;
}

function editPipeline(state: Context, { number, ...edit }: PipelineEdit & { number: number }, facts: Facts) {
  const pipeline = state.pipelines.find((one) => one.number === number);
  const refused = pipeline === undefined ? NO_PIPELINE : refusalOf(pipeline, edit);
  if (pipeline === undefined || refused !== null) return { reply: refused ?? NO_PIPELINE };
  // From here on it succeeds.
  const wanted: Pipeline = {
    ...pipeline,
    ...settled(pipeline, edit),
    default: edit.default ?? pipeline.default,
    archived: edit.archived ?? pipeline.archived,
  };
  const changes = state.pipelines.flatMap((one) => {
    const next = one.number === number ? wanted : { ...one, default: one.default && !wanted.default };
    // A default that is edited, and stays one, takes that from nobody.
    const changed_fields = changedFields(one, number === one.number ? next : { default: next.default });
    return changed_fields.length === 0
      ? []
      : [{ next: revised(next, facts), is_switched: one.default !== next.default }];
  });
  if (changes.length === 0) return { reply: pipeline };
  const by_number = new Map(changes.map(({ next }) => [next.number, next]));
  return {
    reply: by_number.get(number) ?? pipeline,
    next: { ...state, pipelines: state.pipelines.map((one) => by_number.get(one.number) ?? one) },
    // Events tell which one is the default, and nothing else of a pipeline.
    effects: changes.flatMap(({ next, is_switched }) =>
      is_switched ? [pipelineEvent('pipeline.updated', next, facts, ['default'])] : [],
    ),
  };
}

function refusalOf(pipeline: Pipeline, edit: PipelineEdit): Refusal | null {
  const archived = edit.archived ?? pipeline.archived;
  if (!archived) return null;
  if (pipeline.default) return DEFAULT_STAYS;
  return edit.default ? IS_ARCHIVED : null;
}

function revised(pipeline: Pipeline, { now_ms }: Facts): Pipeline {
  return { ...pipeline, revision: pipeline.revision + 1, updated_at_ms: now_ms };
}

/** The name and settings of a pipeline after a request. */
function settled(
  pipeline: Pipeline,
  { name, transcription, insights }: PipelineTerms,
): Pick<Pipeline, 'name' | 'transcription' | 'insights'> {
  const blank = firstPipeline(0);
  return {
    name: name ?? pipeline.name,
    transcription: { ...pipeline.transcription, ...present(transcription ?? {}) },
    insights:
      insights === null
        ? null
        : insights === undefined
          ? pipeline.insights
          : { ...(pipeline.insights ?? (blank.insights as NonNullable<Pipeline['insights']>)), ...present(insights) },
  };
}

function present<T extends object>(some: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(some).filter(([, value]) => value !== undefined)) as never;
}

/** The names of the fields that differ. Values are plain, and their members always in the same order. */
function changedFields(before: object, after: object): string[] {
  const old = before as Record<string, unknown>;
  const isSame = (one: unknown, other: unknown) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
  return Object.entries(after).flatMap(([name, value]) => (isSame(old[name], value) ? [] : [name]));
}

function pipelineEvent(
  type: 'pipeline.created' | 'pipeline.updated',
  { number }: Pipeline,
  { self }: Facts,
  changed_fields?: string[],
): Effect {
  const data = changed_fields === undefined ? {} : { changed_fields };
  return { effect: 'append_event', account_id: self, type, resource_id: pipelineId(self, number), data };
}

/** Raises the version of the context items, and records `memory_context.updated`. */
function itemsChanged(state: Context, { self }: Facts): { next: Context; effects: Effect[] } {
  const version = state.version + 1;
  const data = { revision: version };
  return {
    next: { ...state, version },
    effects: [{ effect: 'append_event', account_id: self, type: 'memory_context.updated', resource_id: self, data }],
  };
}

function itemRecord(id: string) {
  return { collection: ITEMS, id };
}

function allItems() {
  return { collection: ITEMS, range: { limit: LIMITS.context_items_max } };
}

function putItem(id: string, value: ContextItem): Effect {
  return { effect: 'put_record', collection: ITEMS, id, value, order: value.created_at_ms };
}

/** The record id of a revision: fixed width, so that ids sort as numbers. */
function revisionKey(revision: number): string {
  return revision.toString(16).padStart(8, '0');
}
