/** The program: what `npm start` runs once everything is built. */
import './signals.js';
import { loadParts } from './load_parts.js';

await loadParts();
await import('./run.js');
