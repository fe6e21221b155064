import type { CurlCaller } from '../http/openapi/curl.js';
import { ASSETS, REFERENCE_ASSETS } from '../pages/assets.js';
import { GUIDES, type Guide } from './guide_names.js';

/** Where the reference begins, for whoever calls. */
export const REFERENCE_PATHS: Record<CurlCaller, string> = { app: '/reference', device: '/reference/devices' };

/** The documents, in the order in which pages link to them. */
const PLACES = [
  { path: REFERENCE_PATHS.app, title: 'API' },
  { path: REFERENCE_PATHS.device, title: 'Device API' },
  ...GUIDES.map(({ name, title }) => ({ path: guidePath(name), title })),
];

export function guidePath(name: Guide): string {
  return `/guides/${name}`;
}

/** The parts of every page of the reference and of the guides. */
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
