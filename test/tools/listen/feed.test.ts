import t from 'tap';
import { CallRefused } from '../../../kits/typescript/src/call.js';
import type { AccountAccess } from '../../../tools/listen/access.js';
import { type FeedListener, follow } from '../../../tools/listen/feed.js';

type Answer = { items: { id: string; sequence: string; type: string }[]; cursor: string } | Error;

/** Follows a feed that answers so, one after the other, and ends with the last; what was heard and asked. */
async function heard(answers: Answer[]) {
  const ending = new AbortController();
  const asked: string[] = [];
  const told: string[] = [];
  const waits_ms: number[] = [];
  const moved: string[] = [];
  const access = {
    async events({ after }: { after: string }) {
      asked.push(after);
      const answer = answers.shift();
      if (answers.length === 0) ending.abort();
      if (answer instanceof Error) throw answer;
      return answer;
    },
  } as unknown as AccountAccess;
  const listener: FeedListener = {
    event: async ({ id }) => void told.push(id),
    present: () => told.push('present'),
    away: (why, again_ms) => {
      told.push(`away ${again_ms} ${why}`);
    },
    lost: () => told.push('lost'),
    moved: async (cursor) => void moved.push(cursor),
  };
  const pause = async (ms: number) => {
    waits_ms.push(ms);
  };
  await follow(access, { type: null, signal: ending.signal, listener, pause });
  return { asked, told, waits_ms, moved };
}

const page = (cursor: string, ...ids: string[]): Answer => ({
  items: ids.map((id) => ({ id, sequence: id, type: 'account.updated' })),
  cursor,
});
const many = Array.from({ length: 100 }, (_, index) => String(index));
const refused = (status: number, retry_after_s: number | null = null) =>
  new CallRefused(status, 'CODE', 'words', retry_after_s);
const broken = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });

t.test('E-015 to E-018 pages follow each other, a full one at once', async (t) => {
  const { asked, told, waits_ms } = await heard([page('a'), page('b', ...many), page('c')]);
  t.same(asked, ['latest', 'a', 'b']);
  t.same(told, ['present', ...many]);
  t.same(waits_ms, [1_000, 0, 1_000]);
});

t.test('Retry-After is kept to, and the position kept', async (t) => {
  const { asked, told, waits_ms } = await heard([page('a'), refused(503, 2), page('b', '1'), page('b')]);
  t.same(asked, ['latest', 'a', 'a', 'b']);
  t.same(told, ['present', 'away 2000 the server says 503 CODE: words', 'present', '1']);
  t.same(waits_ms, [1_000, 2_000, 1_000, 1_000]);
  const away = await heard([page('a'), broken, broken, broken, broken, broken, broken, page('a')]);
  t.same(away.waits_ms, [1_000, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 1_000]);
});

t.test('a position that is not known begins anew, a refusal that stays ends it', async (t) => {
  const { asked, told } = await heard([page('a'), refused(400), page('z'), page('z')]);
  t.same(asked, ['latest', 'a', 'latest', 'z']);
  t.same(told, ['present', 'lost']);
  await t.rejects(heard([refused(400), page('a')]), { message: /^400/ });
  await t.rejects(heard([page('a'), refused(403), page('a')]), { message: /^403/ });
  await t.rejects(heard([broken, page('a')]), { code: 'ECONNREFUSED' }, 'nothing was there to begin with');
  await t.rejects(heard([page('a'), new TypeError('a bug'), page('a')]), { message: 'a bug' });
});
