import { createHash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import type { Export } from '../../kits/typescript/src/api.js';
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import { UserError } from '../user_error.js';
import type { CommandRow } from './command.js';

const POLL_MS = 500;

export const exportCommand: CommandRow = {
  name: 'export',
  parameters: ['ACCOUNT'],
  options: {
    audio: { says: 'With the audio of all recordings' },
    files: { says: 'With the files of the account' },
    out: { value: 'FILE', says: 'Where the archive goes; a name in the present folder when absent' },
  },
  says: 'Saves all data of an account as one ZIP archive, with layers that are switched off; nothing is left on the server',
  async run({ operator, parameters, options }) {
    const account = parameters.ACCOUNT as string;
    const body = { audio: options.flag('audio'), files: options.flag('files') };
    const named = options.text('out') ?? `spool-export-${new Date().toISOString().replaceAll(/[:.]/g, '-')}.zip`;
    const file = await fresh(named);
    try {
      const made = await exported(operator, { account, body, file });
      return {
        json: { file: named, ...made },
        lines: [`${named} holds ${((made.bytes ?? 0) / 1_000_000).toFixed(1)} MB.`],
      };
    } catch (error) {
      await rm(named, { force: true });
      throw error;
    } finally {
      await file.close();
    }
  },
};

/** For its owner alone; one that is there already stays as it is. */
async function fresh(name: string): Promise<FileHandle> {
  try {
    return await open(name, 'wx', 0o600);
  } catch (error) {
    throw new UserError(`${name} can not be made: ${(error as Error).message}`);
  }
}

type ExportQuery = { account: string; body: { audio: boolean; files: boolean }; file: FileHandle };

async function exported(operator: OperatorClient, { account, body, file }: ExportQuery): Promise<Export> {
  const asked = await operator.call('POST /ops/accounts/{account}/exports', { path: { account }, body });
  const path = { account, id: asked.id };
  try {
    const made = await finished(operator, path);
    await save(operator, {
      path: `/ops/accounts/${encodeURIComponent(account)}/exports/${asked.id}/content`,
      file,
      made,
    });
    return made;
  } finally {
    await operator.call('DELETE /ops/accounts/{account}/exports/{id}', { path });
  }
}

async function finished(operator: OperatorClient, path: { account: string; id: string }): Promise<Export> {
  for (;;) {
    const found = await operator.call('GET /ops/accounts/{account}/exports/{id}', { path });
    if (found.status === 'ready') return found;
    if (found.status !== 'pending' && found.status !== 'running')
      throw new UserError(`The export was not made: ${found.failure?.message ?? found.status}`);
    await setTimeout(POLL_MS);
  }
}

async function save(
  operator: OperatorClient,
  { path, file, made }: { path: string; file: FileHandle; made: Export },
): Promise<void> {
  const hash = createHash('sha256');
  await operator.download(path, async (body) => {
    for await (const piece of body) {
      hash.update(piece);
      await file.writeFile(piece);
    }
  });
  await file.sync();
  if (hash.digest('hex') !== made.sha256) throw new UserError('The archive did not come as it was made; try again.');
}
