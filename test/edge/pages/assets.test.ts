import { readFileSync } from 'node:fs';
import Fastify from 'fastify';
import pino from 'pino';
import t from 'tap';
import { ASSET_ROUTES } from '../../../routes/pages/assets.js';
import type { Call } from '../../../src/edge/http/route.js';
import { ASSETS, REFERENCE_ASSETS } from '../../../src/edge/pages/assets.js';
import { sendPage } from '../../../src/edge/pages/page.js';

/** The routes as they are mounted, as far as they need a server. */
function server() {
  const app = Fastify({ loggerInstance: pino({ level: 'silent' }) });
  for (const { method, path, handler } of ASSET_ROUTES) {
    app.route({
      method,
      url: path,
      handler: async (request, reply) => {
        await handler({ request, reply } as unknown as Call<never, never, never, never>);
        return reply;
      },
    });
  }
  app.get('/page', (_request, reply) => void sendPage(reply, { page: 'wait', seconds: 60 }));
  return app;
}

t.test('what a page refers to lies at an address of its content, for good', async (t) => {
  const app = server();
  t.teardown(() => app.close());
  const { body } = await app.inject('/page');
  const addresses = [...body.matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, address = '']) => address);
  t.same(new Set(addresses), new Set(Object.values(ASSETS).map(({ path }) => path)));
  for (const { path, type, bytes } of Object.values(ASSETS)) {
    t.match(path, /^\/assets\/(basics|spool)-[0-9a-f]{16}\.(css|svg)$/);
    const answer = await app.inject(path);
    t.equal(answer.statusCode, 200);
    t.equal(answer.body, bytes.toString());
    t.match(answer.headers, {
      'content-type': type,
      'cache-control': 'public, max-age=31536000, immutable',
    });
  }
});

t.test('the stylesheets load nothing, and mind how people want to see', async (t) => {
  const text = ASSETS.basics.bytes.toString() + ASSETS.stylesheet.bytes.toString();
  t.notMatch(text, /url\(|@import/);
  for (const wish of ['color-scheme: light dark', 'prefers-reduced-motion', 'forced-colors', ':focus-visible']) {
    t.match(text, wish);
  }
});

t.test('colours stand in one place', async (t) => {
  const operator = ['frame.css', 'data.css'].map((name) =>
    readFileSync(new URL(`../../../../app/operator/styles/${name}`, import.meta.url), 'utf8'),
  );
  for (const text of [ASSETS.stylesheet.bytes.toString(), REFERENCE_ASSETS.stylesheet.bytes.toString(), ...operator])
    t.notMatch(text, /#[0-9a-f]{3,8}\b|rgb|hsl|--[\w-]+:/);
});

t.test('text and the edges of fields stand out in both colour schemes', async (t) => {
  const colours = [
    ...ASSETS.basics.bytes.toString().matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g),
  ];
  t.ok(colours.length > 20);
  const schemes = [2, 3].map((at) => new Map(colours.map((found) => [found[1], found[at]])));
  const pairs: [text: string, ground: string, contrast_min: number][] = [
    ...['card', 'ground', 'well', 'good-ground'].map((ground): [string, string, number] => ['text', ground, 4.5]),
    ...['card', 'ground'].map((ground): [string, string, number] => ['soft', ground, 4.5]),
    ['accent', 'card', 4.5],
    ['accent-strong', 'card', 4.5],
    ['on-accent', 'accent', 4.5],
    ['on-accent', 'accent-strong', 4.5],
    ['caution', 'caution-ground', 4.5],
    ['caution', 'card', 4.5],
    ['wrong', 'wrong-ground', 4.5],
    ['field-edge', 'card', 3],
    ['wrong-edge', 'card', 3],
  ];
  for (const scheme of schemes) {
    for (const [above, below, contrast_min] of pairs) {
      const contrast = contrastOf(scheme.get(above) ?? '', scheme.get(below) ?? '');
      t.ok(contrast >= contrast_min, `${above} on ${below}: ${contrast.toFixed(2)}`);
    }
  }
});

/** Contrast ratio of two colours, as WCAG 2.2 reckons it. */
function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
