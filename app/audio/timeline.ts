/**
 * A joined file has stored chunks one after the other: nothing stands where audio is missing, and overlaps are there twice.
 * This tells where in the file a moment of the recording is, and the other way round.
 */

export type Stretch = { start_ms: number; end_ms: number };

type TimelinePiece = Stretch & { file_ms: number };

export class Timeline {
  readonly #pieces: readonly TimelinePiece[];
  /** The playing time of the file, in ms. */
  readonly file_ms: number;
  /** Where the recording ends, as far as it is stored. */
  readonly end_ms: number;

  /** Of stored chunks, by their start. */
  constructor(chunks: readonly Stretch[]) {
    const pieces: TimelinePiece[] = [];
    let file_ms = 0;
    for (const { start_ms, end_ms } of chunks) {
      const last = pieces.at(-1);
      // What follows without a gap is one piece: hours of recording are a handful of them.
      if (last !== undefined && last.end_ms === start_ms) last.end_ms = end_ms;
      else pieces.push({ start_ms, end_ms, file_ms });
      file_ms += end_ms - start_ms;
    }
    this.#pieces = pieces;
    this.file_ms = file_ms;
    this.end_ms = pieces.reduce((latest, { end_ms }) => Math.max(latest, end_ms), 0);
  }

  /** Where there is audio. */
  get stretches(): readonly Stretch[] {
    return this.#pieces;
  }

  /** In the recording. */
  momentAt(file_ms: number): number {
    let found = this.#pieces[0];
    for (const piece of this.#pieces) if (piece.file_ms <= file_ms) found = piece;
    if (found === undefined) return file_ms;
    return Math.min(found.end_ms, found.start_ms + Math.max(0, file_ms - found.file_ms));
  }

  /** In the file; for a moment without audio, where the next begins. */
  fileAt(moment_ms: number): number {
    const inside = this.#pieces.find(({ start_ms, end_ms }) => start_ms <= moment_ms && moment_ms < end_ms);
    if (inside !== undefined) return inside.file_ms + moment_ms - inside.start_ms;
    const next = this.#pieces.find(({ start_ms }) => start_ms > moment_ms);
    return next === undefined ? this.file_ms : next.file_ms;
  }
}
