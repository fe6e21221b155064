import type { Option } from './command.js';

/** What every command takes. */
export const COMMON_OPTIONS: Record<string, Option> = {
  json: { says: 'answer as JSON' },
  help: { says: 'this text' },
};
