import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { TestSpool } from './fixtures/spool.js';

/** The commands of guides, as somebody would type them one after the other. */

const spool = await TestSpool.start({ CHUNK_WORKER: '1' });
t.teardown(() => spool.end());
const { app } = await spool.signIn('ann@guides.test');

/** All of a guide's shell blocks in one bash, and what they printed. */
async function typed(guide: string, given: Record<string, string>): Promise<{ code: number | null; out: string }> {
  const text = readFileSync(new URL(`../../docs/${guide}.md`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  const { operator, public: own } = spool.server.ports;
  const script = ['set -e', ...blocks]
    .join('\n')
    .replaceAll('http://localhost:9090', `http://localhost:${operator}`)
    .replaceAll('http://localhost:8080', `http://localhost:${own}`)
    .replaceAll('https://localhost:8443', spool.device_url)
    .replaceAll('data/', `${spool.folder}/`);
  const child = spawn('bash', ['-c', script], { cwd: spool.folder, env: { PATH: process.env.PATH, ...given } });
  let out = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      out += piece;
    });
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, out };
}

t.test('H-015 H-021 H-023 the commands of the device guide record a second, under a renewed certificate', async (t) => {
  const { claim } = await app.call('POST /devices/claims', { body: { kind: 'owner' } });
  const { code, out } = await typed('devices', { CLAIM: claim });
  t.equal(code, 0, out);
  t.notMatch(out, /"success":false/);
  t.match(out, /"status":"stored"/);
  t.match(out, /"missing":\[\],"truncated":false,"awaiting_upload":0/);
  const [stream, ...more] = (await app.call('GET /audio/streams')).items;
  t.same(more, []);
  t.match(stream, { end_ms: 1_000, stored_chunks: 1, stored_bytes: 32_000 });
  const joined = await app.send('GET', `/audio/streams/${stream?.id}/content`);
  t.ok((joined.body as Buffer).subarray(44).equals(readFileSync(join(spool.folder, 'chunk.pcm'))), 'as one file');
});
