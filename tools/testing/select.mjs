/* Which test files run, and which of them alone. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../setup/build.mjs';

/** Have a process to themselves: they measure it or change it. */
const ALONE = [/[\\/]simulation[\\/]/, /misbehaving/, /bad_input/, /in_s3/, /s3_blob_store/];

/** Built test files whose path contains one of `parts` (all files when there are none); `parts` may name sources. */
export const selectFiles = (parts) => {
  const wanted = parts.map((part) => part.replace(/^.*\bdist\//, '').replace(/\.ts$/, '.js'));
  return readdirSync(join(root, 'dist', 'test'), { recursive: true })
    .map((path) => join('dist', 'test', path))
    .filter((path) => path.endsWith('.test.js') && (wanted.length === 0 || wanted.some((part) => path.includes(part))))
    .sort();
};

export const needsBrowser = (path) => path.startsWith(join('dist', 'test', 'browser'));

export const isAlone = (path) => ALONE.some((pattern) => pattern.test(path));
