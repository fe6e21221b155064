import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new folder, removed when the test `t` is over. */
export const tempFolder = (t: { teardown(clean: () => void): unknown }): string => {
  const folder = mkdtempSync(join(tmpdir(), 'spool-test-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
};
