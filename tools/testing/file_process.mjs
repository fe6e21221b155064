/* A process that runs test files one after the other. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup/build.mjs';
import { countTests } from './report.mjs';

const RUN_FILES = join(root, 'tools', 'testing', 'run_files.mjs');

/** A file that takes longer hangs, also on a busy machine; its process is ended. */
const FILE_TIMEOUT_S = 600;
const KILLED_AFTER_MS = 30_000;
/** From the end of its last file to the end of a process: what holds it for longer, a test has left open. */
const END_MAX_MS = 60_000;

/** The line that run_files.mjs leaves after the results of a file, and what it hears after the last. */
const END_OF_FILE = /^(not )?ok \d+ - end of file .*\n/m;
const END_OF_FILE_CHARACTERS_MAX = 500;
const END = 'end';

/**
 * Runs a file in a new process, and then those that `next` gives, and tells of each: its TAP, counts and times. Not by
 * way of `tap run`: that loads hooks for coverage and mocks, which nobody uses here, into every process that a test
 * starts, a second of CPU each.
 */
export const runFiles = (first, { next, tell, env, file_timeout_s = FILE_TIMEOUT_S, end_max_ms = END_MAX_MS }) =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ['--enable-source-maps', RUN_FILES], {
      cwd: root,
      env: { ...process.env, ...env, TAP_TIMEOUT: String(file_timeout_s), SPOOL_END_MAX_MS: String(end_max_ms) },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let path = first;
    const chunks = [];
    let tail = '';
    let errors = '';
    let timer;
    let began = { ms: performance.now(), cpu_s: 0 };
    let has_ended = false;
    let is_good = true;
    let killed_after_s = null;

    const killAfter = (ms) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        killed_after_s = Math.round(ms / 1000);
        child.kill('SIGKILL');
      }, ms);
    };
    const killWithFile = () => killAfter(file_timeout_s * 1000 + KILLED_AFTER_MS);
    const endingOf = (code, signal) => {
      if (killed_after_s !== null) return `its process was killed after ${killed_after_s} s`;
      return signal === null ? `its process ended with exit code ${code}` : `its process was ended by ${signal}`;
    };
    /** `ending`: how the process ended before the file did; null where the file ran to its end. */
    const tellOf = (text, ending = null) => {
      const now = { ms: performance.now(), cpu_s: cpuSeconds(child.pid) ?? began.cpu_s };
      const file = { path, tap: text, errors, ending, ...countTests(text, ending) };
      tell({ ...file, ms: now.ms - began.ms, cpu_s: now.cpu_s - began.cpu_s });
      began = now;
      errors = '';
      return file.failed.length === 0;
    };

    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      errors += chunk;
    });
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      chunks.push(chunk);
      tail = (tail + chunk).slice(-END_OF_FILE_CHARACTERS_MAX);
      if (!END_OF_FILE.test(tail)) return;
      const text = chunks
        .splice(0)
        .join('')
        .replace(END_OF_FILE, (line, not) => (not ? line : ''));
      tail = '';
      // After a failure the process is not what others expect.
      is_good = tellOf(text);
      const following = is_good ? next() : undefined;
      has_ended = following === undefined;
      path = following ?? path;
      if (has_ended) killAfter(end_max_ms);
      else killWithFile();
      child.send(has_ended ? END : path);
    });
    child.on('error', (error) => {
      errors += `${error.message}\n`; // it has ended, and 'close' tells so
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const tap = chunks.join('');
      if (!has_ended) tellOf(tap, endingOf(code, signal));
      else if (killed_after_s !== null) tellOf(`not ok 1 - was still held ${end_max_ms / 1000} s after its tests\n`);
      else if (/^not ok/m.test(tap) || (is_good && code !== 0)) tellOf(tap, endingOf(code, signal));
      resolve();
    });
    killWithFile();
    child.send(path);
  });

/** CPU seconds of a process and of those of its children that have ended; null where there is no telling. */
const cpuSeconds = (pid) => {
  const stat = `/proc/${pid}/stat`;
  if (!existsSync(stat)) return null;
  // proc(5): the 14th field to the 17th; the second is in parentheses and may have spaces.
  const ticks = readFileSync(stat, 'utf8').split(') ')[1].split(' ').slice(11, 15);
  const TICKS_PER_S = 100;
  return ticks.reduce((sum, part) => sum + Number(part), 0) / TICKS_PER_S;
};
