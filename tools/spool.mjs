#!/usr/bin/env node
/*
 * `spool GROUP COMMAND`: the command line of staff. In a checkout it also runs the programs beside this file, by their
 * names: `npm run spool -- bench --help`.
 */
import { answerVersion, tableText } from './setup/command_line.mjs';
import { makeReady } from './setup.mjs';

/** `demo` and `listen` are commands of staff's line as well. */
const PROGRAMS = {
  bench: 'measures Spool beside other software',
  client: "writes the clients' types from the tables of routes",
  faults: 'tries faults at real servers on a real Redis',
  fleet: 'simulates many recorders at once',
  fuzz: 'sends malformed and half-right requests to every route',
  icons: 'draws the icons of the app anew',
  prove: 'runs a scenario in its full size',
  screenshots: 'takes the pictures of docs/screenshots/ anew',
  simulate: 'runs actors in virtual time with seeded faults',
  train: 'learns insights and how recall ranks from labelled talks',
};

const [name = ''] = process.argv.slice(2);
if (Object.hasOwn(PROGRAMS, name)) {
  process.argv.splice(2, 1);
  await import(`./${name}.mjs`);
} else {
  answerVersion();
  makeReady();
  if (name === '--help')
    process.once('exit', () => console.log(`\nPrograms of a checkout:\n${tableText(Object.entries(PROGRAMS))}`));
  await import('../dist/tools/cli/main.js');
}
