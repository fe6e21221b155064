import t from 'tap';
import { drawSeed } from '../fixtures/seed.js';
import { fuzz } from './fuzz.js';
import { ROUTE_COUNT } from './requests.js';

/** More: `npm run spool -- fuzz --requests 1000000`. */
const REQUESTS = 1_400;

t.test('H-006 J-012 malformed and half-right requests to every route break nothing', async (t) => {
  const seed = drawSeed(t);
  const { sent, statuses, problems } = await fuzz({ requests: REQUESTS, seed });
  t.same(problems, []);
  t.ok(sent >= REQUESTS);
  t.ok(statuses.size > ROUTE_COUNT * 0.85, `${statuses.size} of ${ROUTE_COUNT} routes were asked`);
  const total = (least: number, most: number) =>
    [...statuses.values()].reduce(
      (sum, counts) =>
        sum + [...counts].reduce((all, [status, count]) => all + (least <= status && status <= most ? count : 0), 0),
      0,
    );
  t.ok(total(200, 299) > REQUESTS * 0.05, `${total(200, 299)} came to something: they are half right`);
  t.ok(total(400, 499) > REQUESTS * 0.2, `${total(400, 499)} were refused`);
});
