import { type Command, InvalidArgumentError } from 'commander';
import { timestamp } from '../../src/access/request_schemas.js';
import { isId } from '../../src/domain/ids.js';
import { newProgram } from '../command_line.js';
import type { ImportOptions } from './import.js';

const AFTER = `
When a recording began stands in many files, such as those of phones. Otherwise
the time of the file counts as the end of the recording. What was taken is said.

A file that was cut off goes on where it stopped when it is given again; one
that is a recording already is named, and not sent again.

In the environment, since everybody on a machine can see arguments:
  SPOOL_TOKEN           a personal access token with audio:write, instead of
                        signing in
  OPS_URL, OPS_TOKEN, DATA_DIR
                        where --code-from-inbox finds the operator port and its
                        token

Exit codes: 0 all files are recordings, 1 some are not, 2 not understood.`;

/** `import`, called so. What it does is loaded when it is called. */
export const importCommand = (name: string): Command =>
  newProgram(name, 'Makes recordings of audio files in an account: sends each, and waits until it is decoded.')
    .summary('Makes recordings of audio files in an account')
    .argument('<FILE...>', 'audio files: MP3, M4A, WAV, Ogg, FLAC, WebM and others')
    .option('--source <ID>', 'the source that they come from; “Imported files” when not given', readSource)
    .option(
      '--captured-at <TIME>',
      'when the recording began, such as 2026-01-31T08:30:00+01:00; when not given, what the file says, else its time less its length',
      readTime,
    )
    .option('--server <URL>', 'the server; http://localhost:8080 when not given (with PORT set, that port)')
    .option('--email <EMAIL>', 'whose account; on a terminal it is asked for when not given')
    .option('--code-from-inbox', "read the emailed code from a development server's operator port")
    .option('--json', 'answer as JSON')
    .addHelpText('after', AFTER)
    .action(async (files: string[], options: ImportOptions) => {
      const { importFiles } = await import('./import.js');
      await importFiles(files, options);
    });

function readSource(text: string): string {
  const id = text.toLowerCase();
  if (isId(id)) return id;
  throw new InvalidArgumentError('It must be the id of a source.');
}

/** As it was typed: its offset says the local time there. */
function readTime(text: string): string {
  const read = timestamp.safeParse(text);
  if (read.success) return text;
  throw new InvalidArgumentError('It must be a time with an offset, such as 2026-01-31T08:30:00+01:00.');
}
