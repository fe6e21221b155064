import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { nodeProgram } from '../fixtures/node_program.js';
import { tempFolder } from '../fixtures/temp_folder.js';

t.test('prove node says where a version of Node can not be had', async (t) => {
  const folder = tempFolder(t);
  await t.rejects(nodeProgram('git+https://x.test/y', { folder }), {
    message: '"git+https://x.test/y" is no version of Node',
  });
  await t.rejects(nodeProgram('24', { folder, system: 'darwin arm64' }), {
    message: 'other versions of Node are fetched for linux x64 only; this is darwin arm64',
  });
  // Nobody listens there.
  const env = { ...process.env, npm_config_registry: 'http://127.0.0.1:9/', npm_config_fetch_retries: '0' };
  const asked = nodeProgram('24', {
    folder,
    system: 'linux x64',
    env: { ...env, npm_config_cache: join(folder, 'npm') },
  });
  await t.rejects(asked, { message: /^Node 24 can't be had: .*127\.0\.0\.1:9/ });
  t.notOk(existsSync(join(folder, '24')), 'nothing is left that a later try would take for it');
});
