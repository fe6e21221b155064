/* `npm run spool -- simulate`: actors under a seeded scheduler with faults. */
import { makeReady, readCommandLine } from './setup.mjs';

const { values } = readCommandLine({
  form: 'npm run spool -- simulate [options]',
  says: 'Runs the actors over a model of the store, in virtual time, with crashes and lost messages that follow from a seed, and checks what clients saw. Exit code 1 when a seed fails.',
  options: {
    seeds: { value: 'N', default: '100', whole: true, min: 1, says: 'how many seeds' },
    seed: { value: 'S', default: '1', whole: true, min: 1, says: 'the first of them' },
    operations: { value: 'K', default: '150', whole: true, min: 1, says: 'operations of clients for each seed' },
    about: {
      value: 'WHAT',
      one_of: ['devices', 'workspaces', 'endpoints', 'sessions'],
      says: 'devices, workspaces, endpoints or sessions; all of them when not given',
    },
  },
  notes: ['SIMULATION_HISTORY=1 prints the whole history of the first seed that fails.'],
});
makeReady({ with_dev: true });
const { runSeeds } = await import('../dist/test/simulation/run_seeds.js');
await runSeeds(values);
