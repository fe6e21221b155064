import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/** A file that pages refer to. Its address holds a hash of its content: what lies there never changes. */
export type Asset = { path: string; type: string; bytes: Buffer };

function assetOf(name: string, type: string): Asset {
  const bytes = readFileSync(new URL(`./files/${name}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { path: `/assets/${name.replace('.', `-${hash}.`)}`, type, bytes };
}

/** The assets of every page: colours and type first. */
export const ASSETS = {
  basics: assetOf('basics.css', 'text/css; charset=utf-8'),
  stylesheet: assetOf('spool.css', 'text/css; charset=utf-8'),
  icon: assetOf('spool.svg', 'image/svg+xml'),
};

/** The ground of pages by light and by dark, for what browsers draw around them. */
export const GROUND = groundOf(ASSETS.basics.bytes.toString());

function groundOf(basics: string): { light: string; dark: string } {
  const [, light, dark] = /--ground: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/.exec(basics) ?? [];
  if (light === undefined || dark === undefined) throw new Error('basics.css names no two grounds');
  return { light, dark };
}

/** The app's icon for home screens, drawn by `npm run spool -- icons`. */
export const ICONS = {
  touch: assetOf('icon_180.png', 'image/png'),
  small: assetOf('icon_192.png', 'image/png'),
  large: assetOf('icon_512.png', 'image/png'),
  /** Fills the square: systems cut their own form out of it. */
  maskable: assetOf('icon_maskable_512.png', 'image/png'),
};

/** Further assets of the reference and the guides. Scripts only make them handier: they work without. */
export const REFERENCE_ASSETS = {
  copying: assetOf('copy_buttons.js', 'text/javascript; charset=utf-8'),
  stylesheet: assetOf('reference.css', 'text/css; charset=utf-8'),
  script: assetOf('reference.js', 'text/javascript; charset=utf-8'),
  samples: assetOf('samples.js', 'text/javascript; charset=utf-8'),
  trial: assetOf('try_it.js', 'text/javascript; charset=utf-8'),
};

export const ALL_ASSETS = [...Object.values(ASSETS), ...Object.values(ICONS), ...Object.values(REFERENCE_ASSETS)];
