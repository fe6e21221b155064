import type { SampleCaller } from '../http/openapi/sample_call.js';
import { ASSETS, REFERENCE_ASSETS } from '../pages/assets.js';
import type { Guide } from './guide_names.js';

/** Where the reference begins, for whoever calls. */
export const REFERENCE_PATHS: Record<SampleCaller, string> = { app: '/reference', device: '/reference/devices' };

/** The page that leads to the guides. */
export const GUIDES_PATH = '/guides';

/** The documents, in the order in which pages link to them. */
const PLACES = [
  { path: REFERENCE_PATHS.app, title: 'API' },
  { path: REFERENCE_PATHS.device, title: 'Device API' },
  { path: GUIDES_PATH, title: 'Guides' },
];

export function guidePath(name: Guide): string {
  return `${GUIDES_PATH}/${name}`;
}

/** The parts of every page of the reference and of the guides. */
export function pageParts(here: string) {
  return {
    here,
    places: PLACES,
    stylesheets: [ASSETS.basics.path, ASSETS.stylesheet.path, REFERENCE_ASSETS.stylesheet.path],
    scripts: [REFERENCE_ASSETS.script, REFERENCE_ASSETS.samples, REFERENCE_ASSETS.trial, REFERENCE_ASSETS.copying].map(
      ({ path }) => path,
    ),
    icon: ASSETS.icon.path,
    /** Text in which some stands between backticks. */
    inline: (text: string) => text.split('`').map((part, index) => ({ part, is_code: index % 2 === 1 })),
  };
}
