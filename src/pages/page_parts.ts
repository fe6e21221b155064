import { ASSETS, REFERENCE_ASSETS } from './assets.js';

/** What there is to read, in the order in which pages link to it. */
export const PLACES = [
  { path: '/reference', title: 'API' },
  { path: '/reference/devices', title: 'Device API' },
  { path: '/guides/devices', title: 'Device guide' },
  { path: '/guides/webhooks', title: 'Webhook guide' },
  { path: '/guides/transcription', title: 'Transcription guide' },
  { path: '/guides/insights', title: 'Insights guide' },
  { path: '/guides/search', title: 'Search guide' },
  { path: '/guides/assistants', title: 'Assistant guide' },
];

/** What every page of the reference and of the guides is made with. */
export function pageParts(here: string) {
  return {
    here,
    places: PLACES,
    stylesheets: [ASSETS.basics.path, ASSETS.stylesheet.path, REFERENCE_ASSETS.stylesheet.path],
    script: REFERENCE_ASSETS.script.path,
    icon: ASSETS.icon.path,
    /** Text in which some stands between backticks. */
    inline: (text: string) => text.split('`').map((part, index) => ({ part, is_code: index % 2 === 1 })),
  };
}
