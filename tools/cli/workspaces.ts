import type { CommandGroup, CommandRow } from './command.js';

const remove: CommandRow = {
  name: 'delete',
  parameters: ['WORKSPACE_ID'],
  options: {},
  says: 'Deletes a shared workspace for good; its members are told by an event',
  async run({ operator, parameters }) {
    const id = parameters.WORKSPACE_ID as string;
    await operator.call('DELETE /ops/workspaces/{id}', { path: { id } });
    return { json: { deleted: id }, lines: ['Deleted.'] };
  },
};

export const WORKSPACE_COMMANDS: CommandGroup = {
  name: 'workspaces',
  says: 'Shared workspaces',
  commands: [remove],
};
