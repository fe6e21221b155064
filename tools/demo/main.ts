import { runProgram } from '../command_line.js';
import { demoCommand } from './command.js';

await runProgram(demoCommand('npm run demo --'));
