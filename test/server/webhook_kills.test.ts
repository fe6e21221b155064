import t from 'tap';
import { KILL_POINTS, webhookKills } from './webhook_crashes.js';

t.test(
  'F-041 faults 1 and 12: killed around a claim, its request and its result: each event arrives, and counts once',
  { timeout: 110_000 },
  (t) => {
    const [first, ...others] = [KILL_POINTS.at(-1), ...KILL_POINTS.slice(0, -1)];
    const turn = Math.floor(Math.random() * 4);
    const points = [first, ...others.filter((_, index) => index % 4 === turn)].filter((point) => point !== undefined);
    t.comment(points.map(({ name }) => name).join(', '));
    return webhookKills(t, points);
  },
);
