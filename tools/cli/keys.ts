import type { CommandGroup, CommandRow } from './command.js';

const rotate: CommandRow = {
  name: 'rotate',
  parameters: [],
  options: {
    server: { says: 'Rotates the server key in KEYS_DIR instead, which protects codes, tokens and secrets' },
  },
  says: 'Makes a new key that signs access tokens from now on; tokens of the old one work until they expire',
  async run({ operator, options }) {
    if (options.flag('server')) {
      const made = await operator.call('POST /ops/keys/server/rotate');
      const line = `Key ${made.key_id} is known to all processes, and is used from ${made.active_at} on. Back up KEYS_DIR.`;
      return { json: made, lines: [line] };
    }
    const made = await operator.call('POST /ops/keys/rotate');
    return { json: made, lines: [`Key ${made.kid} signs from now on.`] };
  },
};

export const KEY_COMMANDS: CommandGroup = {
  name: 'keys',
  says: 'Keys that access tokens are signed with, and that secrets rest on',
  commands: [rotate],
};
