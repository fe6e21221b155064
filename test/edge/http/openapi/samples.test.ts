import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import ts from 'typescript';
import { ROUTES } from '../../../../routes/index.js';
import { REFUSALS } from '../../../../src/domain/refusals.js';
import { documentsOf } from '../../../../src/edge/http/openapi/documents.js';
import type { Method } from '../../../../src/edge/http/openapi/openapi.js';
import { pythonOf } from '../../../../src/edge/http/openapi/python_sample.js';
import { adviceOn, REFUSAL_ADVICE } from '../../../../src/edge/http/openapi/refusal_advice.js';
import { sampleCall } from '../../../../src/edge/http/openapi/sample_call.js';
import { isTypedCall } from '../../../../src/edge/http/openapi/typescript.js';
import { typescriptOf } from '../../../../src/edge/http/openapi/typescript_sample.js';

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url));
const documents = documentsOf(ROUTES, () => '');
const calls = (['public', 'device'] as const).flatMap((listener) =>
  Object.entries(documents[listener].paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      caller: listener === 'public' ? ('app' as const) : ('device' as const),
      is_typed: isTypedCall(listener, operation),
      call: sampleCall({ path, method: method as Method, operation }),
    })),
  ),
);

t.test('the sample of every operation in TypeScript holds against the types of the kit', async (t) => {
  const head = `import { readFileSync } from 'node:fs';
import type { AppClient } from '${ROOT}/kits/typescript/src/index.js';
import type { DeviceClient } from '${ROOT}/kits/typescript/src/device.js';
declare const spool: AppClient;
declare const device: DeviceClient;
declare const API: string, TOKEN: string, CLIENT_ID: string, CLIENT_SECRET: string;
`;
  const samples = calls.map(({ call, caller, is_typed }) => `{\n${typescriptOf(call, caller, { is_typed })}\n}\n`);
  // Beside our own files, so that the types of Node are found.
  const file = join(ROOT, 'test', 'edge', 'http', 'openapi', 'samples_of_all_operations.ts');
  const options: ts.CompilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, types: ['node'] },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.NodeNext, lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'] },
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  const text = head + samples.join('');
  host.readFile = (name) => (name === file ? text : readFile(name));
  host.fileExists = (name) => name === file || fileExists(name);
  const program = ts.createProgram([file], options, host);
  const source = program.getSourceFile(file);
  const wrong = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  t.same(
    wrong.map(({ messageText, start = 0 }) => ({
      is: ts.flattenDiagnosticMessageText(messageText, '\n'),
      at: text.slice(start, start + 120),
    })),
    [],
  );
  const typed = calls.filter(({ is_typed }) => is_typed).length;
  t.ok(typed > 130 && typed < calls.length, `${typed} of ${calls.length} by the kit`);
});

const has_python = spawnSync('python3', ['--version']).status === 0;

t.test('each in Python can be read by it', { skip: has_python ? false : 'needs python3' }, async (t) => {
  const file = join(t.testdir({}), 'samples.py');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, calls.map(({ call, caller }) => `${pythonOf(call, caller)}\n`).join(''));
  const { status, stderr } = spawnSync('python3', [
    '-c',
    `import ast; ast.parse(open(${JSON.stringify(file)}).read())`,
  ]);
  t.equal(status, 0, String(stderr));
});

t.test('every refusal says what it means and what to do', async (t) => {
  for (const code of Object.keys(REFUSALS)) t.match(adviceOn(code), /^[A-Z].{20,}\.$/, code);
  t.equal(adviceOn('toString'), null);
  const texts = Object.values(REFUSAL_ADVICE);
  t.equal(new Set(texts).size, texts.length, 'no two alike');
});
