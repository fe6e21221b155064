import { type Command, InvalidArgumentError, Option } from 'commander';
import { timestamp } from '../../src/access/request_schemas.js';
import { isId } from '../../src/domain/ids.js';
import { newProgram } from '../command_line.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import type { ImportOptions } from './import.js';
import { SERVICE_NAMES } from './services/service.js';

const AFTER = `
Transcripts of other programs become recordings without audio: WebVTT, SubRip,
those of Zoom, Teams and Otter, and JSON of Whisper, WhisperX, whisper.cpp,
Fireflies and omi. A transcript that lies beside an audio file under the same
name (talk.m4a, talk.vtt) is its text, which is not made again.

When a recording began stands in many files, such as those of phones. Otherwise
the time of the file counts as the end of the recording. What was taken is said.

A file that was cut off goes on where it stopped when it is given again; one
that is a recording already is named, and not sent again.

With --from the conversations of Limitless, omi or Fireflies become recordings,
the newest first. Your key of the service stays on this machine. A run that was
cut off goes on; what is a recording already, or was deleted, is left alone.

In the environment, since everybody on a machine can see arguments:
  SPOOL_TOKEN           a personal access token with audio:write, instead of
                        signing in
  LIMITLESS_API_KEY, OMI_API_KEY, FIREFLIES_API_KEY
                        your key of a service; asked for on a terminal
  OPS_URL, OPS_TOKEN, DATA_DIR
                        where --code-from-inbox finds the operator port and its
                        token

Exit codes: 0 all files are recordings, 1 some are not, 2 not understood.`;

/** `import`, called so. What it does is loaded when it is called. */
export const importCommand = (name: string): Command =>
  newProgram(
    name,
    'Makes recordings of audio files and transcripts in an account: sends each, and waits until it is decoded.',
  )
    .summary('Makes recordings of audio files and transcripts')
    .argument(
      '[FILE...]',
      'audio files (MP3, M4A, WAV, Ogg, FLAC, WebM and others) and transcripts (.vtt, .srt, .txt, .json)',
    )
    .addOption(
      new Option('--from <SERVICE>', 'import the conversations that a service keeps, instead of files').choices(
        SERVICE_NAMES,
      ),
    )
    .option('--state <FILE>', 'with --from: where to keep what was imported')
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
      if (options.from !== undefined) {
        if (files.length > 0) throw new UserError('--from takes no files.', WRONG_USAGE);
        const { importFrom } = await import('./services/import_from.js');
        return importFrom(options.from, options);
      }
      if (files.length === 0) throw new UserError("error: missing required argument 'FILE'", WRONG_USAGE);
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
