import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t from 'tap';
import { BUILT_IN_MODEL } from '../../../src/engine/speech/speech_model.js';
import { runCli } from '../../fixtures/cli.js';
import { packedModel, servedFile } from '../../fixtures/model_archive.js';
import { NO_MODEL } from '../../fixtures/speech.js';
import { tempFolder } from '../../fixtures/temp_folder.js';

const COLUMNS = 100;

type Listed = { in_use: string; models: { name: string; state: string; licence?: string }[] };

function spoolIn(folder: string) {
  return (...args: string[]) => runCli(['models', ...args], { DATA_DIR: folder });
}

t.test('K-430 models that can be installed are a table of 100 columns, and JSON', async (t) => {
  const spool = spoolIn(tempFolder(t));
  const { out, code } = await spool('list');
  t.equal(code, 0);
  t.match(out, /^built-in +English .* in use$/m);
  t.match(out, /^parakeet-v3 +25 languages of Europe +490 MB .* CC BY 4\.0$/m);
  for (const line of out.split('\n')) t.ok(line.length <= COLUMNS, line);
  const listed = JSON.parse((await spool('list', '--json')).out) as Listed;
  t.match(listed, { in_use: 'built-in' });
  t.match(listed.models[0], { name: 'whisper-base', state: 'not installed', licence: 'MIT' });
});

t.test('K-430 a model is installed from a server, used, put back and removed', { skip: NO_MODEL }, async (t) => {
  const folder = tempFolder(t);
  const spool = spoolIn(folder);
  const archive = join(tempFolder(t), 'model.tar.bz2');
  execFileSync('tar', ['cjf', archive, '-C', dirname(BUILT_IN_MODEL), basename(BUILT_IN_MODEL)]);
  const { url } = await servedFile(t, archive);
  const installed = await spool('install', 'moonshine-tiny', '--from', url);
  t.equal(installed.code, 0, installed.errors);
  t.match(installed.errors, /^fetching model\.tar\.bz2: .* MB of .* MB \(100 %\)$/m);
  t.match(installed.out, /^moonshine-tiny is installed \(\d+ MB, takes \d+ MB of memory\)\.\nsha256 [0-9a-f]{64} http/);
  t.match(installed.out, 'New audio is transcribed by moonshine-tiny, instead of built-in.');
  t.match((await spool('list')).out, /^moonshine-tiny .* in use$/m);
  t.match(await spool('remove', 'moonshine-tiny'), { code: 1, errors: /in use/ });
  t.match(await spool('use', 'built-in'), { code: 0, out: /instead of moonshine-tiny/ });
  t.match(await spool('remove', 'moonshine-tiny'), { code: 0, out: 'moonshine-tiny is removed.\n' });
  t.notOk(existsSync(join(folder, 'models', 'moonshine-tiny')));
});

t.test('K-432 a model that does not load is not installed', { skip: NO_MODEL }, async (t) => {
  const folder = tempFolder(t);
  const spool = spoolIn(folder);
  const files = { 'encoder_model.onnx': 'no network', 'decoder_model_merged.onnx': 'none', 'tokens.txt': 'a 0\n' };
  const { code, errors } = await spool('install', 'mine', '--from', packedModel(t, files));
  t.equal(code, 1);
  t.match(errors, /The model does not run here: .+\n$/);
  t.match(await spool('use', 'mine'), { code: 1, errors: 'Not used: the model mine is not installed.\n' });
  t.notOk(existsSync(join(folder, 'models', 'mine')));
  t.match(await spool('install', 'mine', '--from', 'x', '--sha256', 'no'), { code: 1, errors: /64 hexadecimal/ });
});
