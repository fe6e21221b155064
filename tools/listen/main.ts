import { runProgram } from '../command_line.js';
import { listenCommand } from './command.js';

await runProgram(listenCommand('npm run listen --'));
