/** The program: what `npm start` runs once everything is built. */
import './host/signals.js';
import { loadParts } from './host/load_modules.js';

await loadParts();
await import('./host/run.js');
