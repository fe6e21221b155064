import type { Test } from 'tap';
import type { Stream, Turn } from '../../kits/typescript/src/api.js';
import { LIMITS } from '../../src/domain/limits.js';
import { type Kills, killWithin } from '../driver/kills.js';
import { scenario } from '../driver/scenario.js';
import { Servers } from '../driver/servers.js';
import { allOf } from '../fixtures/colleagues.js';
import { omiConversation, segment } from '../fixtures/omi.js';

const EMAIL = 'omi@x.test';

type Step = { ask: () => Promise<unknown>; id: string };

scenario<Kills>({
  title:
    'K-415 K-416 a conversation of omi whose server was killed after any commit of its change is one recording, as it came last',
  smoke: { steps: 1, points: 2 },
  full: { steps: Infinity, points: Infinity },
  run: omiKills,
});

async function omiKills(t: Test, kills: Kills): Promise<void> {
  const server = await Servers.open(t, { env: { CHUNK_WORKER: '0', CONTENT_WORKER: '0' } });
  let app = server.client((await server.signIn(EMAIL)).access_token);
  const { url } = await app.ask<{ url: string }>('POST', '/me/omi');
  const secret = url.split('/').at(-1);
  const post = (id: string, text: string) =>
    fetch(`${server.base_url}/omi/${secret}?uid=u`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(omiConversation(id, [segment(text, 0)], { structured: { title: id } })),
    });
  let count = 0;

  const prepare = async (): Promise<Step> => {
    count += 1;
    const id = `conversation ${count}`;
    await post(id, 'The first text.');
    await server.operator.advanceClock(0);
    const ask = async () => {
      const answer = await post(id, 'The second text.');
      await server.operator.advanceClock(0); // until it is a recording
      return answer;
    };
    return { ask, id };
  };

  await killWithin<Step>(
    t,
    server,
    { steps: { change: prepare }, kinds: [['change']], kills },
    async ({ nth, step: { id } }, t) => {
      app = server.client(app.access_token);
      // Until an import that was cut off goes on, the answer is 503; omi tries again.
      await server.operator.advanceClock(LIMITS.import_lease_ms + 1_000);
      await server.operator.advanceClock(0);
      const answer = await post(id, 'The second text.');
      t.equal(answer.status, 204, `after commit ${nth}`);
      await server.operator.advanceClock(LIMITS.import_lease_ms + 1_000);
      await server.operator.advanceClock(0);
      const found = (await allOf<Stream>(app, '/audio/streams')).filter(({ title }) => title === id);
      t.equal(found.length, 1, 'one recording');
      const turns = await allOf<Turn>(app, '/turns', `stream_id=${found[0]?.id}`);
      t.same(
        turns.map(({ text }) => text),
        ['The second text.'],
      );
    },
  );
}
