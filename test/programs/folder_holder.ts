import { createInterface } from 'node:readline';
import { DataFolderHeld, holdDataFolder } from '../../src/engine/process/data_folder.js';

/* Says `ready`, tries to hold the folder for each line it hears, and stays alive. */

const folder = process.argv[2] ?? '';
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

say({ ready: true });
for await (const _ of createInterface({ input: process.stdin })) {
  try {
    await holdDataFolder(folder);
    say({ held: true, pid: process.pid });
  } catch (error) {
    if (!(error instanceof DataFolderHeld)) throw error;
    say({ held: false, holder: error.pid, since: error.since });
  }
}
