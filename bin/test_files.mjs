/*
 * Runs the test files that bin/test.mjs names, one after the other, in one process: what they import is read and
 * compiled once, which costs more than most of them. A line after the results of a file says that it has ended.
 */
import { resolve } from 'node:path';
import t from 'tap';

const file_ms = Number(process.env.TAP_TIMEOUT) * 1000;

/** Tap lets go of the channel, which would hold the process otherwise. */
const hold = setInterval(() => {}, 60_000);

const end = () => {
  clearInterval(hold);
  process.disconnect();
};

const runFile = async (path) => {
  t.setTimeout(file_ms); // from now; it would be for all files
  try {
    await import(resolve(path));
  } catch (error) {
    t.fail(`${path} could not be imported`, { stack: error.stack });
  }
  await t.test(`end of ${path}`, async () => {});
};

process.on('message', (message) => (message === 'end' ? end() : runFile(message)));
process.on('disconnect', () => clearInterval(hold));
