import type { Command } from 'commander';
import { newProgram } from '../command_line.js';
import type { NotesOptions } from './notes.js';

const AFTER = `
A note is called "2026-11-29 Planning.md", by the clocks here (TZ), with a short
id where another recording has that name. It has summary, decisions, tasks, open
questions and the text. A new title renames it.

Notes that were changed, deleted or moved by hand are left as they are, and said.
A note goes with its recording, unless it was changed. DIR/.spool-notes.json
keeps what was written, so that a later run writes only what is new.

In the environment, since everybody on a machine can see arguments:
  SPOOL_TOKEN           a personal access token with turns:read and
                        insights:read, instead of signing in
  OPS_URL, OPS_TOKEN, DATA_DIR
                        where --code-from-inbox finds the operator port and its
                        token

Exit codes: 0 done or ended by a signal, 1 the server refused or is away,
2 not understood.`;

/** `notes`, called so. What it does is loaded when it is called. */
export const notesCommand = (name: string): Command =>
  newProgram(
    name,
    'Writes the recordings of an account into a folder, each as a note in Markdown. One way: nothing that is changed there comes back.',
  )
    .summary('Writes recordings as Markdown notes')
    .argument('<DIR>', 'the folder, such as one of an Obsidian vault')
    .option('--follow', 'go on, and write what is new within seconds')
    .option('--daily', 'write a note for each day as well, with links to its recordings')
    .option('--links', 'write named speakers as [[Name]]')
    .option('--state <FILE>', 'where to keep what was written, instead of DIR/.spool-notes.json')
    .option('--server <URL>', 'the server; http://localhost:8080 when not given (with PORT set, that port)')
    .option('--email <EMAIL>', 'whose account; on a terminal it is asked for when not given')
    .option('--code-from-inbox', "read the emailed code from a development server's operator port")
    .addHelpText('after', AFTER)
    .action(async (folder: string, options: NotesOptions) => {
      const { writeNotes } = await import('./notes.js');
      await writeNotes(folder, options);
    });
