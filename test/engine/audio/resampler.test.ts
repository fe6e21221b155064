import t from 'tap';
import { Resampler } from '../../../src/engine/audio/resampler.js';

const RATE = 16_000;

function tone(rate: number, hertz: number): Float32Array {
  return Float32Array.from({ length: rate }, (_, frame) => Math.sin((2 * Math.PI * hertz * frame) / rate) * 0.3);
}

function resampled(samples: Float32Array, from_rate: number, piece: number): number[] {
  const resampler = new Resampler(from_rate, RATE);
  const made: number[] = [];
  for (let at = 0; at < samples.length; at += piece) made.push(...resampler.push(samples.slice(at, at + piece)));
  return [...made, ...resampler.end()];
}

/** The largest distance from what the tone would be, away from both ends. */
function error(found: readonly number[], hertz: number, loudness: number): number {
  let most = 0;
  for (let frame = 500; frame < 15_500; frame++) {
    const wanted = Math.sin((2 * Math.PI * hertz * frame) / RATE) * loudness;
    most = Math.max(most, Math.abs((found[frame] ?? 9) - wanted));
  }
  return most;
}

t.test('a tone stays a tone at another rate, whatever pieces it comes in', async (t) => {
  for (const rate of [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 15_999]) {
    const whole = resampled(tone(rate, 440), rate, rate);
    t.equal(whole.length, RATE, `${rate} Hz`);
    t.ok(error(whole, 440, 0.3) < 0.003, `${rate} Hz: ${error(whole, 440, 0.3)}`);
    for (const piece of [1, 7, 1_000]) t.same(resampled(tone(rate, 440), rate, piece), whole, `pieces of ${piece}`);
  }
});

t.test('frequencies that the new rate cannot hold are gone', async (t) => {
  const found = resampled(tone(48_000, 12_000), 48_000, 5_000);
  t.ok(error(found, 0, 0) < 0.003, String(error(found, 0, 0)));
});
