import type { CurlCaller } from '../http/openapi/curl.js';
import { ASSETS, REFERENCE_ASSETS } from '../pages/assets.js';
import { GUIDES, type Guide } from './guide_names.js';

/** Where the reference begins, for whoever calls. */
export const REFERENCE_PATHS: Record<CurlCaller, string> = { app: '/reference', device: '/reference/devices' };

/** What there is to read, in the order in which pages link to it. */
const PLACES = [
  { path: REFERENCE_PATHS.app, title: 'API' },
  { path: REFERENCE_PATHS.device, title: 'Device API' },
  ...GUIDES.map(({ name, title }) => ({ path: guidePath(name), title })),
];

export function guidePath(name: Guide): string {
  return `/guides/${name}`;
}

/** What every page of the reference and of the guides is made with. */
export function pageParts(here: string) {
  return {
    here,
    places: PLACES,
    stylesheets: [ASSETS.basics.path, ASSETS.stylesheet.path, REFERENCE_ASSETS.stylesheet.path],
    scripts: [REFERENCE_ASSETS.script.path, REFERENCE_ASSETS.copying.path],
    icon: ASSETS.icon.path,
    /** Text in which some stands between backticks. */
    inline: (text: string) => text.split('`').map((part, index) => ({ part, is_code: index % 2 === 1 })),
  };
}
