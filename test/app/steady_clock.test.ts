import t from 'tap';
import { SteadyClock } from '../../app/recorder/steady_clock.js';

/** A clock by two that the test moves. */
function moved() {
  const at = { wall: 1_700_000_000_000, page: 5_000 };
  const clock = new SteadyClock(
    () => at.wall,
    () => at.page,
  );
  const began = clock.now();
  const pass = (wall_ms: number, page_ms = wall_ms) => {
    at.wall += wall_ms;
    at.page += page_ms;
    return clock.now() - began;
  };
  return pass;
}

t.test('D-077 the clock of a recording goes on while the machine sleeps', async (t) => {
  const pass = moved();
  t.equal(pass(10_000), 10_000);
  t.equal(pass(60_000, 0), 70_000, 'asleep');
  t.equal(pass(3_600_500, 500), 3_670_500, 'and again');
  t.equal(pass(1_000), 3_671_500);
});

t.test('a wall clock that is set back or goes unevenly changes nothing', async (t) => {
  const pass = moved();
  t.equal(pass(-3_600_000, 0), 0);
  t.equal(pass(1_000), 1_000);
  t.equal(pass(60_000, 0), 61_000, 'later sleep counts');
  for (const apart of [400, -400, 300, -300]) pass(1_000 + apart, 1_000);
  t.equal(pass(0), 65_000);
});
