import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Route } from '../../src/edge/http/route.js';
import type { Asset } from '../../src/edge/pages/assets.js';
import { assetRoute } from '../pages/assets.js';

/** What the operators' pages load. Scripts name each other, so all lie in one folder, whose name holds their hash. */

const require = createRequire(import.meta.url);
const JS = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const FILES = {
  'accounts.js': { from: own('accounts.js'), type: JS },
  'actors.js': { from: own('actors.js'), type: JS },
  'band.js': { from: own('band.js'), type: JS },
  'chart.js': { from: own('chart.js'), type: JS },
  'content.js': { from: own('content.js'), type: JS },
  'devices.js': { from: own('devices.js'), type: JS },
  'dom.js': { from: own('dom.js'), type: JS },
  'endpoints.js': { from: own('endpoints.js'), type: JS },
  'entity.js': { from: own('entity.js'), type: JS },
  'inbox.js': { from: own('inbox.js'), type: JS },
  'listing.js': { from: own('listing.js'), type: JS },
  'live.js': { from: own('live.js'), type: JS },
  'operator.css': { from: own('operator.css'), type: CSS },
  'overview.js': { from: own('overview.js'), type: JS },
  'terms.js': { from: own('terms.js'), type: JS },
  'uplot.css': { from: require.resolve('uplot/dist/uPlot.min.css'), type: CSS },
  'uplot.js': { from: require.resolve('uplot/dist/uPlot.iife.min.js'), type: JS },
  'words.js': { from: own('words.js'), type: JS },
} as const;

export type OperatorAsset = keyof typeof FILES;

const TEXTS = Object.entries(FILES).map(([name, { from, type }]) => ({ name, type, text: readFileSync(from, 'utf8') }));
const HASH = createHash('sha256').update(JSON.stringify(TEXTS)).digest('hex').slice(0, 16);

/** Where a file lies. */
export function operatorAsset(name: OperatorAsset): string {
  return `/assets/operator-${HASH}/${name}`;
}

const ASSETS: readonly Asset[] = TEXTS.map(({ name, type, text }) => ({
  path: operatorAsset(name as OperatorAsset),
  type,
  text,
}));

export const OPERATOR_ASSET_ROUTES: readonly Route[] = ASSETS.map(assetRoute);

function own(name: string): URL {
  return new URL(`./page/${name}`, import.meta.url);
}
