/** The program: what `npm start` runs once everything is built. */
import { loadModules } from './host/load_modules.js';
import { KeptSignals } from './host/signals.js';

const signals = new KeptSignals();
await loadModules();
const { run } = await import('./host/run.js');
run(signals);
