import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { nodeTransport } from '../../kits/typescript/src/http_call.js';
import { pause } from '../../kits/typescript/src/retries.js';
import { AccountAccess } from '../listen/access.js';
import { readAccount, readServer } from '../listen/options.js';
import { signIn } from '../listen/sign_in.js';
import { UserError, WRONG_USAGE } from '../user_error.js';
import { Waiting } from '../watch/waiting.js';
import { AccountReader } from './account_reader.js';
import { NoteFiles } from './note_files.js';
import { type NoteCounts, NoteWriter } from './note_writer.js';
import { NotesState } from './notes_state.js';
import { NotesSync } from './notes_sync.js';

/** The options as commander gives them. */
export type NotesOptions = {
  follow?: true;
  daily?: true;
  links?: true;
  state?: string;
  server?: string;
  email?: string;
  codeFromInbox?: true;
};

const STATE_NAME = '.spool-notes.json';
const ANSWER_MAX_MS = 60_000;
const CONNECTIONS = 16;
const POLL_MS = 3_000;
/** Without --follow another run goes on. */
const WAITS_MS = 10 * 60_000;

/** Writes recordings as notes, once or until a signal ends it. */
export async function writeNotes(dir: string, options: NotesOptions): Promise<void> {
  const folder = resolve(dir);
  const server = readServer(options.server, process.env);
  const who = readAccount(options, process.env);
  const found = await stat(folder).catch(() => null);
  if (!found?.isDirectory()) throw new UserError(`${folder} is not a folder.`, WRONG_USAGE);
  const form = { links: options.links === true, daily: options.daily === true };
  const state = await NotesState.open(resolve(options.state ?? join(folder, STATE_NAME)), server.origin, form);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  const { signal } = stop;
  const transport = nodeTransport({ maxSockets: CONNECTIONS });
  const access = new AccountAccess(server, { timeout_ms: ANSWER_MAX_MS, patience: null, transport });
  const note = (text: string) => console.error(text);
  const waiting = new Waiting({ say: note, signal, give_up_ms: options.follow === true ? null : WAITS_MS });
  const say = (text: string) => console.log(text);
  const writer = new NoteWriter({ folder, files: new NoteFiles(folder), state, say });
  const progress = (notes: number) => note(`${notes} recordings`);
  const sync = new NotesSync({ reader: new AccountReader(access, waiting), writer, state, signal, progress });
  try {
    const as = await signIn(access, who);
    if (options.follow === true) say(`writing notes to ${folder} from ${server.origin}, signed in ${as}`);
    await writer.recover();
    await run(sync, writer, { follow: options.follow === true, signal, say });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    stop.abort();
    await access.leave();
  }
}

async function run(
  sync: NotesSync,
  writer: NoteWriter,
  { follow, signal, say }: { follow: boolean; signal: AbortSignal; say: (text: string) => void },
): Promise<void> {
  for (;;) {
    const is_more = await sync.round();
    const words = wordsFor(writer.counts);
    if (words !== null) say(words);
    writer.counts = { written: 0, removed: 0, left: 0 };
    if (is_more) continue;
    if (!follow) return;
    await pause(POLL_MS, signal);
    if (signal.aborted) return;
  }
}

function wordsFor({ written, removed, left }: NoteCounts): string | null {
  if (written + removed + left === 0) return null;
  return `${written} written, ${removed} removed, ${left} left as they are`;
}
