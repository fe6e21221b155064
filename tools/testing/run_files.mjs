/*
 * Runs the test files that file_process.mjs names, one after the other, in one process: what they import is read and
 * compiled once, which costs more than most of them. A line after the results of a file says that it has ended.
 */
import async_hooks from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';

/*
 * Tap follows every promise from its making to its collection, to say which test an error belongs to that nobody caught:
 * a third of the CPU of a test with a server. Here such an error ends the process, which fails the file it was running.
 */
async_hooks.createHook = () => ({ enable: () => {}, disable: () => {} });
syncBuiltinESMExports();
const { default: t } = await import('tap');
const crash = (error) => {
  console.error(error);
  process.exit(1);
};
process.on('uncaughtException', crash).on('unhandledRejection', crash);

/** Teardowns of files, the last first; tap would run them at the end of the process, and end that early. */
const ends = [];
t.teardown = (end) => void ends.unshift(end);

const file_ms = Number(process.env.TAP_TIMEOUT) * 1000;

/** Tap lets go of the channel, which would hold the process otherwise. */
const hold = setInterval(() => {}, 60_000);

/** Shortly before file_process.mjs ends a process that something holds, it says what. */
const SAY_WHAT_HOLDS_MS = (Number(process.env.SPOOL_END_MAX_MS) * 2) / 3;
const sayWhatHolds = () => console.error(`held by ${process.getActiveResourcesInfo().join(', ')}`);

const end = () => {
  clearInterval(hold);
  setTimeout(sayWhatHolds, SAY_WHAT_HOLDS_MS).unref();
  process.disconnect();
};

const runFile = async (path) => {
  t.setTimeout(file_ms); // from now; it would be for all files
  try {
    await import(resolve(path));
  } catch (error) {
    console.error(error); // tap leaves out a stack that has no line of a test
    t.fail(`${path} could not be imported`);
  }
  await t.test(`end of file ${path}`, async () => {
    for (const end of ends.splice(0)) await end();
  });
};

process.on('message', (message) => (message === 'end' ? end() : runFile(message)));
process.on('disconnect', () => clearInterval(hold));
