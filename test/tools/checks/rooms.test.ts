import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { tempFolder } from '../../fixtures/temp_folder.js';

const CHECK = fileURLToPath(new URL('../../../../tools/checks/rooms.mjs', import.meta.url));

/** What the check says of a project that holds these files. */
function checked(t: Test, files: Record<string, string>) {
  const folder = tempFolder(t);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { status, stdout } = spawnSync(process.execPath, [CHECK, folder], { encoding: 'utf8' });
  return { status, lines: stdout.split('\n').filter((line) => line !== '') };
}

t.test('rooms that import each other over a third one are refused with the imports that make the circle', async (t) => {
  const files = {
    'actors/index.ts': "import '../src/domain/ids.js';\nimport './a/one.js';\n",
    'actors/a/one.ts': "import type { Two } from '../b/two.js';\nimport './own.js';\n",
    'actors/a/own.ts': '',
    'actors/b/two.ts': "import { shared } from '../shared.js';\nexport { three } from '../c/deep/three.js';\n",
    'actors/c/deep/three.ts': "import { shared } from '../../shared.js';\n",
    'actors/shared.ts': '',
  };
  t.same(checked(t, files), { status: 0, lines: [] }, 'one way is no circle');
  t.same(checked(t, { ...files, 'actors/c/four.ts': "const one = await import('../a/own.js');\n" }), {
    status: 1,
    lines: [
      'actors: a, b, c import each other in a circle',
      '  actors/a/one.ts imports actors/b/two.ts',
      '  actors/b/two.ts imports actors/c/deep/three.ts',
      '  actors/c/four.ts imports actors/a/own.ts',
    ],
  });
});

t.test('a file in the folder of a storey is a room of its own', async (t) => {
  const files = {
    'actors/job.ts': "import type { Held } from './a/held.js';\n",
    'actors/a/held.ts': "import { job } from '../job.js';\n",
  };
  t.same(checked(t, files), {
    status: 1,
    lines: [
      'actors: a, job.ts import each other in a circle',
      '  actors/a/held.ts imports actors/job.ts',
      '  actors/job.ts imports actors/a/held.ts',
    ],
  });
});

t.test('a feature imports only those before it in their order', async (t) => {
  const files = {
    'src/features/services.ts': '',
    'src/features/webhooks/words.ts': "import { turns } from '../transcripts/turns.js';\n",
    'src/features/transcripts/turns.ts': "import type { FeatureServices } from '../services.js';\n",
  };
  t.same(checked(t, files), { status: 0, lines: [] });
  const backwards = {
    'src/features/services.ts': '',
    'src/features/transcripts/turns.ts': "import type { Words } from '../webhooks/words.js';\n",
    'src/features/unknown/one.ts': "import { one } from '../services.js';\n",
  };
  t.same(checked(t, backwards), {
    status: 1,
    lines: [
      'src/features: unknown has no place in FEATURE_ORDER of tools/checks/rooms.mjs',
      'src/features: src/features/transcripts/turns.ts imports src/features/webhooks/words.ts, which comes later in FEATURE_ORDER',
    ],
  });
});
