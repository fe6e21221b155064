/** SQLite's FTS5 as a peer, where there is a Python to run it. */
import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('programs/fts5.py', import.meta.url));
const HAS_FTS5 = "import sqlite3; sqlite3.connect(':memory:').execute('CREATE VIRTUAL TABLE t USING fts5(x)')";

/** Null where there is none. `ask` sends one question and resolves with its answer. */
export function startFts5() {
  if (spawnSync('python3', ['-c', HAS_FTS5]).status !== 0) return null;
  const child = spawn('python3', [PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = [];
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(JSON.parse(line)));
  return {
    ask(question) {
      const answer = new Promise((resolve) => waiting.push(resolve));
      child.stdin.write(`${JSON.stringify(question)}\n`);
      return answer;
    },
    stop: () => child.stdin.end(),
  };
}
