import { type Command, InvalidArgumentError } from 'commander';
import { isId } from '../../src/domain/ids.js';
import { newProgram, numberOption } from '../command_line.js';
import type { WatchOptions } from './watch.js';

const AFTER = `
A file is ready when its size and time stand still. Its content counts, not its
name: the same content makes one recording, under whatever name it comes, and
none again after that recording was deleted. DIR/.spool-watch.json keeps what
was done. Hidden files, unfinished ones (.tmp, .part) and links are left out.

A recording began when the file says, else when its name says, such as
"2026-11-29 10-15-00", else at the time of the file, less its length.

While the server is away or takes no more, files wait. With --once they wait
for 10 minutes at most; the next run goes on.

In the environment, since everybody on a machine can see arguments:
  SPOOL_TOKEN           a personal access token with audio:write, instead of
                        signing in
  OPS_URL, OPS_TOKEN, DATA_DIR
                        where --code-from-inbox finds the operator port and its
                        token

Exit codes: 0 ended by a signal, or with --once all files are recordings,
1 some files failed or the server refused, 2 not understood.`;

/** `watch`, called so. What it does is loaded when it is called. */
export const watchCommand = (name: string): Command =>
  newProgram(
    name,
    'Makes recordings of the audio files and transcripts that appear in a folder and its subfolders, until it is ended.',
  )
    .summary('Makes recordings of files that appear in a folder')
    .argument('<DIR>', 'the folder')
    .addOption(
      numberOption('--settle <SECONDS>', 'how long size and time of a file must stand still', {
        ...{ min: 0, max: 86_400, otherwise: 10 },
      }),
    )
    .addOption(
      numberOption('--every <SECONDS>', 'how often to look, besides what the system tells', {
        ...{ min: 1, max: 86_400, otherwise: 5 },
      }),
    )
    .option('--once', 'import what is there, and end; for cron')
    .option('--delete-after', 'delete each file once it is a recording')
    .option('--workspace <ID>', 'the workspace that they go to; the private one when not given', readId)
    .option('--state <FILE>', 'where to keep what was done, instead of DIR/.spool-watch.json')
    .option('--server <URL>', 'the server; http://localhost:8080 when not given (with PORT set, that port)')
    .option('--email <EMAIL>', 'whose account; on a terminal it is asked for when not given')
    .option('--code-from-inbox', "read the emailed code from a development server's operator port")
    .addHelpText('after', AFTER)
    .action(async (folder: string, options: WatchOptions) => {
      const { watchFolder } = await import('./watch.js');
      await watchFolder(folder, options);
    });

function readId(text: string): string {
  const id = text.toLowerCase();
  if (isId(id)) return id;
  throw new InvalidArgumentError('It must be the id of a workspace.');
}
