import { computed, signal } from '@preact/signals';
import { say } from '../language/say.js';
import { audioSource, whyNoAudio } from './audio_access.js';
import { Timeline } from './timeline.js';

/** Speeds, from slow to fast. */
export const RATES: readonly number[] = [0.75, 1, 1.25, 1.5, 1.75, 2];

/** Plays one recording. All times are moments of the recording, in ms. */
export class Player {
  readonly position_ms = signal(0);
  readonly playing = signal(false);
  readonly rate = signal(1);
  /** In words; null where all is well. */
  readonly problem = signal<string | null>(null);
  readonly timeline = signal(new Timeline([]));
  readonly length_ms = computed(() => this.text_ms ?? this.timeline.value.end_ms);
  /** The length of a recording that is text alone, of which nothing can be played; null of others. */
  readonly text_ms: number | null;

  readonly #stream_id: string;
  readonly #element = new Audio();
  #source: { url: string; done: () => void } | null = null;
  #opening: Promise<boolean> | null = null;
  /** The length of the recording that the present source holds. */
  #opened_ms = 0;
  #frame = 0;
  #is_closed = false;

  constructor(stream_id: string, text_ms: number | null) {
    this.#stream_id = stream_id;
    this.text_ms = text_ms;
    const element = this.#element;
    element.preload = 'metadata';
    element.addEventListener('play', () => {
      this.playing.value = true;
      this.#follow();
    });
    element.addEventListener('pause', () => {
      this.playing.value = false;
      this.#note();
    });
    element.addEventListener('seeked', () => this.#note());
    element.addEventListener('ended', () => void this.#goOn());
    element.addEventListener('error', () => {
      if (this.#source === null || this.#is_closed) return;
      this.playing.value = false;
      this.#source.done();
      this.#source = null;
      this.#opening = null;
      void whyNoAudio(this.#stream_id).then((why) => {
        this.problem.value = why ?? say('This browser can’t play the recording, or the connection was lost.');
      });
    });
  }

  /** Takes the timeline of what is stored now. New audio is loaded when it is next needed. */
  setTimeline(timeline: Timeline): void {
    this.timeline.value = timeline;
  }

  /** Plays from a moment on. */
  playFrom(moment_ms: number): void {
    this.seek(moment_ms);
    void this.play();
  }

  async toggle(): Promise<void> {
    if (this.playing.peek()) this.#element.pause();
    else await this.play();
  }

  async play(): Promise<void> {
    if (this.text_ms !== null) return;
    const at_end = this.position_ms.peek() >= this.length_ms.peek() - 50;
    if (at_end) this.position_ms.value = 0;
    if (!(await this.#open())) return;
    if (at_end) this.#element.currentTime = 0;
    this.#element.playbackRate = this.rate.peek();
    await this.#element.play().catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') return;
      this.problem.value = say('The browser would not play it. Press play again.');
    });
  }

  pause(): void {
    this.#element.pause();
  }

  seek(moment_ms: number): void {
    const to = Math.min(Math.max(0, moment_ms), this.length_ms.peek());
    this.position_ms.value = to;
    if (this.#source !== null) this.#element.currentTime = this.timeline.peek().fileAt(to) / 1_000;
  }

  setRate(rate: number): void {
    this.rate.value = rate;
    this.#element.playbackRate = rate;
  }

  skip(by_ms: number): void {
    this.seek(this.position_ms.peek() + by_ms);
  }

  /** To the next speed, or with -1 to the one before. */
  stepRate(by: 1 | -1): void {
    const at = RATES.indexOf(this.rate.peek());
    this.setRate(RATES[Math.min(RATES.length - 1, Math.max(0, at + by))] ?? 1);
  }

  close(): void {
    this.#is_closed = true;
    cancelAnimationFrame(this.#frame);
    this.#element.pause();
    this.#element.removeAttribute('src');
    this.#element.load();
    this.#source?.done();
    this.#source = null;
  }

  /** Has all that is stored ready at the present position. */
  #open(): Promise<boolean> {
    if (this.#source !== null && this.#opened_ms < this.length_ms.peek() && !this.playing.peek()) this.#opening = null;
    this.#opening ??= this.#load().then(
      () => true,
      (error: unknown) => {
        this.#opening = null;
        this.problem.value = error instanceof Error ? error.message : say('The recording could not be loaded.');
        return false;
      },
    );
    return this.#opening;
  }

  async #load(): Promise<void> {
    this.problem.value = null;
    const source = await audioSource(this.#stream_id);
    if (this.#is_closed) return source.done();
    this.#source?.done();
    this.#source = source;
    this.#opened_ms = this.length_ms.peek();
    this.#element.src = source.url;
    this.#element.load();
    const at = this.timeline.peek().fileAt(this.position_ms.peek());
    if (at > 0) this.#element.currentTime = at / 1_000;
  }

  /** At the end of the file there may be more by now. */
  async #goOn(): Promise<void> {
    this.#note();
    if (this.#opened_ms >= this.length_ms.peek()) return;
    const from = this.#opened_ms;
    this.#opening = null;
    this.position_ms.value = from;
    await this.play();
  }

  #follow(): void {
    cancelAnimationFrame(this.#frame);
    const step = () => {
      this.#note();
      if (!this.#element.paused) this.#frame = requestAnimationFrame(step);
    };
    step();
  }

  #note(): void {
    if (this.#source !== null)
      this.position_ms.value = this.timeline.peek().momentAt(this.#element.currentTime * 1_000);
  }
}
