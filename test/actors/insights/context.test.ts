import t from 'tap';
import { type ContextMessage, context, defaultPipeline, newContext } from '../../../actors/insights/context.js';
import { type Context, firstPipeline, type Profile } from '../../../actors/insights/context_state.js';
import { makeId, pipelineId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { isRefusal } from '../../../src/domain/refusals.js';
import { Played, START_MS } from '../../fixtures/decisions.js';

const MADE_MS = START_MS - 1_000;
const ACCOUNT = makeId({ partition: 7, now_ms: MADE_MS, random: new Uint8Array(5) });
const TEXT = { about: 'Runs a bakery', languages: ['de'], vocabulary: ['Sauerteig'] };

class PlayedContext extends Played<Context, ContextMessage, unknown> {
  constructor() {
    super(context, ACCOUNT);
  }

  says(message: ContextMessage): string {
    const { reply } = this.send(message);
    return isRefusal(reply) ? reply.refused : 'accepted';
  }

  /** The events since the last call, as `type resource data`. */
  events(): string[] {
    const told = this.effects.slice(this.#told).flatMap((effect) => {
      if (effect.effect !== 'append_event') return [];
      return [
        `${effect.type} ${effect.resource_id} ${Object.values(effect.data ?? {})
          .flat()
          .join(' ')}`.trim(),
      ];
    });
    this.#told = this.effects.length;
    return told;
  }
  #told = 0;
}

t.test('K-013 what was never saved is there as revision zero, and nothing is written for it', (t) => {
  const played = new PlayedContext();
  const seen = played.ask<Context>({ type: 'view' });
  t.same(seen, newContext(ACCOUNT));
  t.match(seen.profile, { revision: 0, about: null, languages: [], vocabulary: [], time_zone: null });
  t.equal(seen.profile.updated_at_ms, null);
  t.same(seen.pipelines, [firstPipeline(MADE_MS)], 'as old as its account');
  t.same(played.ask({ type: 'context_items' }), { version: 0, items: [] });
  t.equal(played.says({ type: 'edit_pipeline', number: 1 }), 'accepted');
  t.equal(played.says({ type: 'save_profile', revision: 0, about: null, languages: [], vocabulary: [] }), 'accepted');
  t.same([played.state, played.effects], [null, []]);
  t.end();
});

t.test('K-081 K-120 a profile is saved on the revision that was read; the newest revisions are kept', (t) => {
  const played = new PlayedContext();
  const save = (revision: number, text = TEXT) => played.send({ type: 'save_profile', revision, ...text }).reply;
  t.same(save(0), { ...TEXT, time_zone: null, revision: 1, updated_at_ms: START_MS });
  t.match(save(0, { ...TEXT, about: 'x' }), { refused: 'CONFLICT', extra: { revision: 1 } });
  t.match(save(2), { refused: 'CONFLICT' });
  t.match(save(1), { revision: 1 }, 'the same content');
  t.same(played.events(), [`suggestion_profile.updated ${ACCOUNT} 1 about languages vocabulary`]);
  for (let revision = 1; revision <= LIMITS.profile_revisions_kept_max; revision++)
    save(revision, { ...TEXT, about: `About ${revision}` });
  t.equal(played.events().at(-1), `suggestion_profile.updated ${ACCOUNT} 51 about`);
  const range = { descending: true, limit: 100 };
  const { revisions } = played.ask<{ revisions: { value: Profile }[] }>({ type: 'profile_revisions', range });
  t.same(
    revisions.map(({ value }) => value.revision),
    Array.from({ length: LIMITS.profile_revisions_kept_max }, (_, at) => 51 - at),
  );
  t.equal(revisions[0]?.value.about, 'About 50');
  t.end();
});

t.test('K-013 each change of a context item that is seen raises the version', (t) => {
  const played = new PlayedContext();
  const make = (item_id: string, text: string) => played.says({ type: 'create_item', item_id, text });
  t.equal(make('a', 'One'), 'accepted');
  t.equal(make('a', 'Again'), 'accepted', 'a repetition gets its first answer');
  played.pass(1_000);
  make('b', 'Two');
  t.equal(played.says({ type: 'edit_item', item_id: 'a', text: 'One' }), 'accepted');
  t.equal(played.says({ type: 'edit_item', item_id: 'a', text: 'First' }), 'accepted');
  t.same(played.ask({ type: 'context_items' }), {
    version: 3,
    items: [
      { id: 'a', text: 'First', created_at_ms: START_MS, updated_at_ms: START_MS + 1_000 },
      { id: 'b', text: 'Two', created_at_ms: START_MS + 1_000, updated_at_ms: START_MS + 1_000 },
    ],
  });
  t.equal(played.says({ type: 'delete_item', item_id: 'a' }), 'accepted');
  t.equal(played.says({ type: 'delete_item', item_id: 'a' }), 'NOT_FOUND');
  t.equal(played.says({ type: 'edit_item', item_id: 'a', text: 'x' }), 'NOT_FOUND');
  t.same(
    played.events(),
    [1, 2, 3, 4].map((version) => `memory_context.updated ${ACCOUNT} ${version}`),
  );
  for (let count = 1; count < LIMITS.context_items_max; count++) t.equal(make(`i${count}`, 'x'), 'accepted');
  t.equal(make('more', 'x'), 'CONFLICT');
  t.end();
});

t.test('K-112 pipelines are made, changed and archived; one is the default', (t) => {
  const played = new PlayedContext();
  const edit = (number: number, change: object) => played.says({ type: 'edit_pipeline', number, ...change });
  const named = (number: number) => played.state?.pipelines.find((one) => one.number === number);
  t.equal(played.says({ type: 'create_pipeline', name: 'Notes', transcription: { language: 'de' } }), 'accepted');
  t.same(named(2), {
    ...firstPipeline(START_MS),
    ...{ number: 2, name: 'Notes', default: false },
    transcription: { engine: 'default', language: 'de', diarize: false, final_pass: false },
  });
  t.same(played.events(), [`pipeline.created ${pipelineId(ACCOUNT, 2)}`]);
  t.equal(edit(3, { name: 'x' }), 'NOT_FOUND');
  t.equal(edit(1, { archived: true }), 'CONFLICT', 'the default stays');
  t.equal(edit(2, { archived: true, default: true }), 'CONFLICT');
  t.same(played.events(), []);
  played.pass(1_000);
  t.equal(edit(2, { default: true }), 'accepted');
  t.same(
    played.events(),
    [1, 2].map((number) => `pipeline.updated ${pipelineId(ACCOUNT, number)} default`),
  );
  t.equal(edit(2, { default: true }), 'accepted');
  t.same(played.events(), [], 'it is the default already');
  t.equal(defaultPipeline(played.state as Context).number, 2);
  t.equal(edit(1, { archived: true, insights: null }), 'accepted');
  t.match(named(1), { archived: true, insights: null, revision: 3, updated_at_ms: START_MS + 1_000 });
  t.equal(edit(1, { default: true }), 'CONFLICT', 'it is archived');
  t.equal(edit(1, { archived: false, default: true, insights: { instructions: 'Short.' } }), 'accepted');
  t.match(named(1)?.insights, { engine: 'default', instructions: 'Short.', suggestion_kinds: /./ });
  t.same(played.events(), [
    `pipeline.updated ${pipelineId(ACCOUNT, 1)} default`,
    `pipeline.updated ${pipelineId(ACCOUNT, 2)} default`,
  ]);
  for (let count = 2; count < LIMITS.pipelines_per_account_max; count++)
    t.equal(played.says({ type: 'create_pipeline', name: 'x' }), 'accepted');
  t.equal(played.says({ type: 'create_pipeline', name: 'x' }), 'CONFLICT');
  t.end();
});

t.test('D-033 erased, nothing is left of what an account said of itself', (t) => {
  const played = new PlayedContext();
  t.same(played.ask({ type: 'erase' }), { left: false });
  played.ask({ type: 'save_profile', revision: 0, ...TEXT });
  played.ask({ type: 'create_item', item_id: 'a', text: 'One' });
  t.same(played.ask({ type: 'erase' }), { left: false });
  t.equal(played.state, null);
  for (const collection of ['profiles', 'items']) t.equal(played.records(collection).size, 0);
  t.ok(played.effects.some(({ effect }) => effect === 'delete'));
  t.end();
});
