import type { Command, CommandGroup } from './command.js';

const rotate: Command = {
  name: 'rotate',
  parameters: [],
  options: {},
  says: 'Makes a new key that signs access tokens from now on; those of the old one work until they run out',
  async run({ operator }) {
    const made = await operator.call('POST /ops/keys/rotate');
    return { json: made, lines: [`Key ${made.kid} signs from now on.`] };
  },
};

export const KEY_COMMANDS: CommandGroup = {
  name: 'keys',
  says: 'Keys that access tokens are signed with',
  commands: [rotate],
};
