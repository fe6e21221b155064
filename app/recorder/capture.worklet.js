/*
 * Runs beside the page, in the browser's audio thread: hands on what the microphone gives, as samples of one channel, a
 * tenth of a second at a time. As plain JavaScript: the browser loads this file by itself.
 */

const PIECES_PER_S = 10;

class Capture extends AudioWorkletProcessor {
  constructor() {
    super();
    this.piece = new Float32Array(Math.round(sampleRate / PIECES_PER_S));
    this.filled = 0;
  }

  process([channels]) {
    const [first] = channels;
    if (first === undefined) return true;
    for (const sample of first) {
      this.piece[this.filled++] = sample;
      if (this.filled < this.piece.length) continue;
      const { buffer } = this.piece;
      this.piece = new Float32Array(this.piece.length);
      this.filled = 0;
      // With its time: the page may be too busy to take it at once.
      this.port.postMessage({ buffer, at_ms: Date.now() }, [buffer]);
    }
    return true;
  }
}

registerProcessor('capture', Capture);
