import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readWav, writeWav } from '../../src/engine/audio/wav.js';
import { UserError } from '../user_error.js';
import { bufferSource } from './recording.js';

/** A recording in which a computer speaks: what is said is known, so that what is heard can be held against it. */

const run = promisify(execFile);

/** The packages that are needed, by the program that shows that they are installed. */
const PACKAGES: Record<string, readonly string[]> = {
  flite: ['flite'],
};
const INSTALL_MS_MAX = 300_000;
const SPEAK_MS_MAX = 30_000;
/** A common voice of flite, chosen without a look at how an engine does with it. */
const VOICE = 'slt';
const PAUSE_S = 0.8;

const SENTENCES = [
  'The children walked to school in the morning.',
  'We will meet at the station on Monday at three.',
  'I will call the doctor tomorrow morning.',
  'My brother bought a new house near the river.',
  'I will send you the report before the end of the week.',
  'Could you bring the books to the meeting on Friday?',
  'The weather was cold but the sun was shining.',
  'They found the answer in an old newspaper.',
];

export type SpokenRecording = {
  file: string;
  sentences: { text: string; start_ms: number; end_ms: number }[];
  remove(): Promise<void>;
};

/** Installs what is missing where it can, and else says what to install. */
export async function ensureSpeech(say: (line: string) => void): Promise<void> {
  const missing = await missingPackages();
  if (missing.length === 0) return;
  const command = `apt-get install -y --no-install-recommends ${missing.join(' ')}`;
  const advice = `Install ${missing.join(', ')}; on Debian or Ubuntu: sudo ${command}`;
  if (process.getuid?.() !== 0 || !(await isThere('apt-get')))
    throw new UserError(`Speech needs more programs. ${advice}`);
  say(`installing ${missing.join(', ')} ...`);
  const [program = '', ...args] = command.split(' ');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => run(program, args, { env, timeout: INSTALL_MS_MAX });
  // On a machine that has never asked, apt knows of no packages.
  await install().catch(async () => {
    await run('apt-get', ['update'], { env, timeout: INSTALL_MS_MAX }).catch(() => {});
    await install().catch(() => {});
  });
  if ((await missingPackages()).length > 0) throw new UserError(`The installation failed. ${advice}`);
}

async function missingPackages(): Promise<string[]> {
  const missing: string[] = [];
  for (const [program, packages] of Object.entries(PACKAGES)) if (!(await isThere(program))) missing.push(...packages);
  return missing;
}

async function isThere(program: string): Promise<boolean> {
  return run('sh', ['-c', 'command -v "$1"', 'sh', program]).then(
    () => true,
    () => false,
  );
}

/** One WAV of all sentences with pauses between them, in a folder of its own. */
export async function speak(): Promise<SpokenRecording> {
  const folder = await mkdtemp(join(tmpdir(), 'spool-demo-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const spoken: SpokenRecording['sentences'] = [];
    const samples: Buffer[] = [];
    let fmt: Buffer = Buffer.alloc(0);
    let frames_said = 0;
    for (const text of SENTENCES) {
      const file = join(folder, 'sentence.wav');
      await run('flite', ['-voice', VOICE, '-t', text, '-o', file], { timeout: SPEAK_MS_MAX });
      const bytes = await readFile(file);
      const read = await readWav(bufferSource(bytes));
      if (!read.ok) throw new UserError(`What flite wrote ${read.why}.`);
      const { format, data_offset, frames } = read.wav;
      const pause = Math.round(PAUSE_S * format.frames_per_second);
      const msOf = (frame: number) => Math.round((frame * 1_000) / format.frames_per_second);
      fmt = format.fmt;
      spoken.push({ text, start_ms: msOf(frames_said), end_ms: msOf(frames_said + frames) });
      samples.push(bytes.subarray(data_offset, data_offset + frames * format.frame_bytes));
      samples.push(Buffer.alloc(pause * format.frame_bytes));
      frames_said += frames + pause;
    }
    const file = join(folder, 'speech.wav');
    await writeFile(file, writeWav({ fmt }, Buffer.concat(samples)));
    return { file, sentences: spoken, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
