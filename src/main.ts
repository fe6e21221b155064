/** The program: what `npm start` runs once everything is built. */
import './host/signals.js';
import { loadModules } from './host/load_modules.js';

await loadModules();
await import('./host/run.js');
