import { fileURLToPath } from 'node:url';
import { scenario } from '../driver/scenario.js';
import { SpoolProcess } from '../driver/spool_process.js';
import { nodeProgram } from '../fixtures/node_program.js';
import { npmTestPasses } from '../fixtures/npm_test.js';
import { tempFolder } from '../fixtures/temp_folder.js';

const START = fileURLToPath(new URL('../../../tools/start.mjs', import.meta.url));

/** `files`: parts of names of test files, with commas between them; the quick tests where it is empty. */
scenario({
  title: 'npm start serves and npm test passes with each version of Node, which npm brings (linux x64)',
  smoke: null, // the versions have to be fetched
  full: { versions: '20.18.1,22,24,26', files: '' },
  full_max_ms: 3 * 3_600_000,
  async run(t, { versions, files }) {
    const programs: [string, string][] = [];
    for (const version of versions.split(',')) programs.push([version, await nodeProgram(version)]);
    for (const [version, node] of programs) {
      await t.test(`Node ${version} serves`, async (t) => {
        const spool = new SpoolProcess(tempFolder(t), {}, { is_measured: true, main: START, node });
        t.teardown(() => spool.kill());
        await spool.ready();
        t.equal((await fetch(`${spool.operator_url}/healthz`)).status, 200);
        t.equal(await spool.stop(), 0);
      });
      await t.test(`Node ${version} passes`, (t) => npmTestPasses(t, { files, node }));
    }
  },
});
