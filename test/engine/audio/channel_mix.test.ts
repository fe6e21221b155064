import t from 'tap';
import { ChannelMix } from '../../../src/engine/audio/channel_mix.js';

const SECOND = 16_000;
const tone = (hertz: number, loudness: number, seconds = 1) =>
  Float32Array.from({ length: seconds * SECOND }, (_, at) => loudness * Math.sin((2 * Math.PI * hertz * at) / SECOND));
const times = (samples: Float32Array, by: number) => samples.map((value) => value * by);
const sum = (one: Float32Array, other: Float32Array) => one.map((value, at) => value + (other[at] as number));
const loudness = (samples: Float32Array) =>
  Math.sqrt(samples.reduce((all, value) => all + value * value, 0) / samples.length);
const mixed = (channels: Float32Array[]) => new ChannelMix().push(channels);

t.test('K-271 channels are one by their mean, or by the louder one where they cancel each other', async (t) => {
  const said = tone(200, 0.4);
  const silence = new Float32Array(SECOND);
  t.same(mixed([said]), said, 'one channel');
  t.same(mixed([said, said]), said);
  for (const [says, channels, expected] of [
    ['against each other', [said, times(said, -1)], said],
    ['nearly', [times(said, 0.5), times(said, -0.6)], times(said, -0.6)],
    ['one silent', [said, silence], times(said, 0.5)],
    ['one of eight', [...Array<Float32Array>(7).fill(silence), said], said],
    ['all silent', [silence, silence], silence],
  ] as const) {
    const far = Math.max(...mixed([...channels]).map((value, at) => Math.abs(value - (expected[at] as number))));
    t.ok(far < 1e-5, `${says}: ${far}`);
  }
  const other = tone(450, 0.3);
  const both = mixed([said, other]);
  t.ok(loudness(sum(both, times(sum(said, other), -0.5))) < 1e-5, 'two people, one to a channel, are both heard');
  const broken = Float32Array.from(said, (value, at) => (at % 2 === 0 ? Number.NaN : value));
  t.ok(mixed([broken, said]).every(Number.isFinite), 'what is no number is silence');
});

t.test('K-271 from one to the other it fades, whatever pieces come', async (t) => {
  const said = tone(100, 0.4, 4);
  const turned = said.map((value, at) => (at < 2 * SECOND ? value : -value));
  const mix = new ChannelMix();
  const pieces: number[] = [];
  for (let from = 0; from < said.length; from += 5_000)
    pieces.push(...mix.push([said, turned].map((channel) => channel.subarray(from, from + 5_000))));
  const steepest = Math.max(...said.slice(1).map((value, at) => Math.abs(value - (said[at] as number))));
  const found = Math.max(...pieces.slice(1).map((value, at) => Math.abs(value - (pieces[at] as number))));
  t.ok(found < steepest * 1.5, `no click: ${found}, ${steepest}`);
  t.ok(loudness(Float32Array.from(pieces.slice(3 * SECOND))) > 0.9 * loudness(said), 'it is heard again');
});
