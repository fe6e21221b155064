import t from 'tap';
import { every } from '../../../src/engine/time/periodic_timer.js';
import { until } from '../../fixtures/until.js';

t.test('what looks every so often is called at its own pace, until it stops', async (t) => {
  const calls: string[] = [];
  const note = (name: string) => () => calls.push(name);
  const times = (name: string) => calls.filter((call) => call === name).length;
  const stops = [every(500, note('half')), every(1_000, note('whole')), every(40, note('own'))];
  t.teardown(() => {
    for (const stop of stops) stop();
  });
  await until('the longest was called twice', () => times('whole') === 2);
  t.ok(times('half') >= 2, 'the shorter at least as often');
  t.ok(times('own') > 0, 'one that is no multiple of half a second as well');
  stops.shift()?.();
  const before = times('half');
  await until('the others go on', () => times('whole') === 3);
  t.equal(times('half'), before);
});
