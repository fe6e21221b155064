import { TRANSCRIPT_MEMBER } from '../../../actors/transcripts/announcing.js';
import type { Page, PageTurn } from '../../../actors/transcripts/transcript_page.js';
import type { Principal } from '../../access/principal.js';
import { placeOfTurn } from '../../domain/ids.js';
import { orNull, Refused, refuse, throwRefusal } from '../../domain/refusals.js';
import { closedAs } from '../../engine/runtime/activation.js';
import type { Actors, EntityOf } from '../../engine/runtime/actors.js';
import type { Fence } from '../../engine/store/store.js';
import type { FeatureServices as Services } from '../services.js';
import type { Scene } from './transcript_pages.js';
import { readableScene, type TurnView, viewTurns } from './transcript_reading.js';
import { Voices } from './voices.js';

const NO_TURN = refuse('NOT_FOUND', 'There is no such turn.');
const NO_CONTACT = refuse('NOT_FOUND', 'There is no such contact.');
const NO_SPEAKER = refuse('NOT_FOUND', 'There is no such speaker in this stream.');
const ONLY_OWNER = refuse('FORBIDDEN', 'Only the owner of a stream may correct its transcript.');

/**
 * What people correct in the transcripts of their recordings. All of it holds still when it commits, or is not done. What is
 * answered is what the commit made of it: a later run may have taken its place before it could be read again.
 */
export class TurnChanges {
  readonly #services: Services;
  readonly #who: Principal;

  constructor(services: Services, who: Principal) {
    this.#services = services;
    this.#who = who;
  }

  /** Says who said a turn. */
  async change(
    turn_id: string,
    { contact_id, speaker }: { contact_id?: string | null | undefined; speaker?: number | undefined },
  ): Promise<TurnView> {
    const held = await this.#contact(contact_id);
    const changed = await this.#onTurn(turn_id, (transcript, place, fences) => {
      if (speaker !== undefined) return transcript.change_turn({ ...place, speaker }, fences);
      return transcript.change_turn({ ...place, contact_id: held }, fences);
    });
    const { page, turn } = changed.reply;
    const views = await this.#viewed(changed.scene, page, [turn]);
    return views[0] ?? throwRefusal(NO_TURN);
  }

  /** Both turns that it makes of one. */
  async split(turn_id: string, at_ms: number): Promise<TurnView[]> {
    const split = await this.#onTurn(turn_id, (transcript, place, fences) =>
      transcript.split_turn({ ...place, at_ms }, fences),
    );
    const { page, turns } = split.reply;
    return this.#viewed(split.scene, page, turns);
  }

  async delete(turn_id: string): Promise<unknown> {
    const deleted = await this.#onTurn(
      turn_id,
      (transcript, place, fences) => transcript.delete_turn(place, fences),
      this.#services.actors.downstream,
    );
    await this.#services.speech_withdrawal.ofStream(deleted.scene.stream);
    return undefined;
  }

  /** Says who a speaker is, in all turns of which nobody said something else. */
  async assign(
    stream_id: string,
    { speaker, contact_id }: { speaker: number; contact_id: string | null },
  ): Promise<unknown> {
    const scene = await this.#own(stream_id);
    const { transcript } = scene;
    if (transcript === null) throw new Refused(NO_SPEAKER);
    const held = await this.#contact(contact_id);
    await this.#ask(scene, (actor, fences) => actor.assign_speaker({ speaker, contact_id: held }, fences));
    await new Voices(this.#services.actors, this.#services.clock.now).name(transcript, {
      ...{ stream_id, speaker, contact_id: held },
    });
    return this.#announced(stream_id);
  }

  async merge(stream_id: string, { speaker, into }: { speaker: number; into: number }): Promise<unknown> {
    const scene = await this.#own(stream_id);
    if (scene.transcript === null) throw new Refused(NO_SPEAKER);
    await this.#ask(scene, (actor, fences) => actor.merge_speaker({ speaker, into }, fences));
    return this.#announced(stream_id);
  }

  /** A contact as it is today, so that a turn never shows one that became a part of another. */
  async #contact(contact_id: string | null | undefined): Promise<string | null> {
    if (contact_id == null) return null;
    const resolved = await this.#services.actors.contacts(this.#who.account_id).resolve({ ids: [contact_id] });
    return resolved.contacts[contact_id]?.id ?? throwRefusal(NO_CONTACT);
  }

  async #onTurn<Reply>(
    turn_id: string,
    ask: (
      transcript: EntityOf<'transcript'>,
      place: { page: number; serial: number },
      fences: Fence[],
    ) => Promise<Reply>,
    actors: Pick<Actors, 'transcript'> = this.#services.actors,
  ): Promise<{ scene: Scene; reply: Reply }> {
    const found = placeOfTurn(turn_id);
    if (found === null) throw new Refused(NO_TURN);
    const { stream_id, ...place } = found;
    const scene = await orNull(this.#own(stream_id), 'NOT_FOUND');
    if (scene === null) throw new Refused(NO_TURN);
    if (scene.transcript === null) throw new Refused(NO_TURN);
    const reply = await this.#ask(scene, (transcript, fences) => ask(transcript, place, fences), actors);
    return { scene, reply };
  }

  #viewed(scene: Scene, { number: page }: Page, turns: PageTurn[]): Promise<TurnView[]> {
    const found = turns.map((turn) => ({ page, turn, words: null }));
    return viewTurns(this.#services, this.#who, { scene, turns: found });
  }

  async #own(stream_id: string): Promise<Scene> {
    const scene = await readableScene(this.#services, this.#who, stream_id);
    return scene.stream.account_id === this.#who.account_id ? scene : throwRefusal(ONLY_OWNER);
  }

  /** No event comes after that of its source's deletion. */
  async #ask<Reply>(
    { stream: { id, source_id } }: Scene,
    ask: (transcript: EntityOf<'transcript'>, fences: Fence[]) => Promise<Reply>,
    actors: Pick<Actors, 'transcript'> = this.#services.actors,
  ): Promise<Reply> {
    const open = [source_id, id].map((held): Fence => ({ fence: 'open', id: held }));
    return ask(actors.transcript(id), [...this.#who.fences, ...open]).catch(closedAs(NO_TURN));
  }

  /** The change is seen; its events follow, most of them before the answer. */
  async #announced(stream_id: string): Promise<null> {
    await this.#services.announcements.offer(TRANSCRIPT_MEMBER + stream_id);
    return null;
  }
}
