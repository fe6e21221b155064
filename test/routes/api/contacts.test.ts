import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Contact } from '../../../kits/typescript/src/api.js';
import { partitionOfId, voiceId } from '../../../src/domain/ids.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { randomId } from '../../../src/engine/random/random.js';
import { TestAccount } from '../../fixtures/account.js';
import { bearer } from '../../fixtures/answers.js';
import { TestSpool } from '../../fixtures/spool.js';

type Page = { items: Contact[]; cursor: string | null };

const UNKNOWN = randomUUID();
const NO_VOICE = { state: 'none', last_matched_at: null, removed_at: null };

t.test('contacts', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const bob = await TestAccount.open(spool, 'bob@x.test');
  const newContact = (name: string, is_self?: boolean) => ann.ask<Contact>('POST', '/contacts', { name, is_self });
  const read = (id: string) => ann.ask<Contact>('GET', `/contacts/${id}`);
  const namesOf = async (query = '') => {
    const names: (string | null)[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Page = await ann.ask('GET', `/contacts?limit=2${query}${cursor && `&cursor=${cursor}`}`);
      t.ok(page.items.length <= 2);
      names.push(...page.items.map(({ name }) => name));
      cursor = page.cursor;
    }
    return names;
  };

  await t.test('K-006 a contact is made, renamed, listed and deleted; no event says its name', async (t) => {
    const eva = await newContact('  Eva Berg ');
    t.match(eva, { name: 'Eva Berg', is_self: false, merged_into: null, voice: NO_VOICE });
    t.equal(eva.created_at, eva.updated_at);
    t.strictSame(await read(eva.id), eva);
    await spool.operator.advanceClock(1_000);
    const renamed = await ann.ask<Contact>('PATCH', `/contacts/${eva.id}`, { name: 'Eva Stein' });
    t.strictSame({ ...renamed, updated_at: '' }, { ...eva, name: 'Eva Stein', updated_at: '' });
    t.equal(Date.parse(renamed.updated_at) - Date.parse(eva.created_at) >= 1_000, true);
    t.strictSame(await ann.ask('PATCH', `/contacts/${eva.id}`, { name: 'Eva Stein', is_self: false }), renamed);
    t.strictSame(await ann.ask('PATCH', `/contacts/${eva.id}`, {}), renamed);
    const me = await newContact('Me', true);
    const other = await newContact('Other me', true);
    t.same([(await read(me.id)).is_self, (await read(other.id)).is_self], [false, true], 'one at most');
    await ann.ask('PATCH', `/contacts/${me.id}`, { is_self: true });
    await ann.ask('PATCH', `/contacts/${me.id}`, { is_self: false });
    t.same(await namesOf(), ['Other me', 'Me', 'Eva Stein'], 'newest first');
    t.equal(await ann.says('DELETE', `/contacts/${other.id}`), '204');
    t.equal(await ann.says('DELETE', `/contacts/${other.id}`), '404 NOT_FOUND');
    t.same(await ann.newEvents(), [
      `contact.created ${eva.id}`,
      `contact.updated ${eva.id} name`,
      `contact.created ${me.id}`,
      `contact.created ${other.id}`,
      `contact.updated ${me.id} is_self`,
      `contact.updated ${me.id} is_self`,
      `contact.updated ${other.id} is_self`,
      `contact.updated ${me.id} is_self`,
      `contact.deleted ${other.id}`,
    ]);
    const events = (await ann.app.send('GET', '/events?limit=100')).body.toString();
    for (const name of ['Eva', 'Berg', 'Stein', 'Other me']) t.notOk(events.includes(name), name);
  });

  await t.test('K-006 D-060 X-38 what is refused, and to whom there is nobody', async (t) => {
    const eva = await newContact('Eva');
    for (const name of ['', ' ', 'x'.repeat(81), 'a\nb', 7]) {
      t.equal(await ann.says('POST', '/contacts', { name }), '400 BAD_REQUEST');
      t.equal(await ann.says('PATCH', `/contacts/${eva.id}`, { name }), '400 BAD_REQUEST');
    }
    t.equal(await ann.says('POST', '/contacts', {}), '400 BAD_REQUEST');
    t.equal(await ann.says('POST', '/contacts', { name: 'x', is_self: 'yes' }), '400 BAD_REQUEST');
    t.equal(await ann.says('GET', '/contacts?q='), '400 BAD_REQUEST');
    t.equal(await ann.says('POST', '/contacts', { name: '🦊'.repeat(80) }), '201', 'characters, not units of UTF-16');
    const asked = (who: TestAccount, id: string, into: string) => [
      who.says('GET', `/contacts/${id}`),
      who.says('GET', `/contacts/${id}/spoken`),
      who.says('PATCH', `/contacts/${id}`, { name: 'x' }),
      who.says('DELETE', `/contacts/${id}`),
      who.says('POST', `/contacts/${id}/merge`, { into }),
      who.says('DELETE', `/contacts/${id}/voice`),
    ];
    for (const [who, id] of [
      [bob, eva.id],
      [ann, UNKNOWN],
      [ann, 'x'],
    ] as const)
      t.same(new Set(await Promise.all(asked(who, id, eva.id))), new Set(['404 NOT_FOUND']), id);
    t.same((await bob.ask<Page>('GET', '/contacts')).items, []);
    t.equal((await ann.newEvents()).length, 2, 'two were made, and nothing else was recorded');
  });

  await t.test('K-052 X-38 a contact that is merged into another is still there, and says so', async (t) => {
    const { items } = await ann.ask<Page>('GET', '/contacts?limit=100');
    for (const { id } of items) await ann.ask('DELETE', `/contacts/${id}`);
    const [one, two, whole] = [await newContact('One', true), await newContact('Two'), await newContact('Whole')];
    await ann.newEvents();
    const merge = (id: string, into: string) => ann.says('POST', `/contacts/${id}/merge`, { into });
    t.equal(await merge(one.id, one.id), '409 CONFLICT');
    t.equal(await merge(one.id, UNKNOWN), '404 NOT_FOUND');
    t.equal(await merge(one.id, 'x'), '400 BAD_REQUEST');
    t.match(await ann.ask('POST', `/contacts/${one.id}/merge`, { into: two.id }), {
      ...{ id: one.id, name: 'One', merged_into: two.id, is_self: false },
    });
    t.equal((await read(two.id)).is_self, true);
    t.equal(await merge(two.id, one.id), '409 CONFLICT', 'a circle');
    t.equal(await merge(one.id, two.id), '200', 'again');
    t.equal(await merge(one.id, whole.id), '409 CONFLICT');
    t.equal(await ann.says('PATCH', `/contacts/${one.id}`, { name: 'x' }), '409 CONFLICT');
    t.equal(await merge(two.id, whole.id), '200');
    t.same([(await read(one.id)).merged_into, (await read(two.id)).merged_into], [whole.id, whole.id]);
    t.same(await namesOf(), ['Whole']);
    t.same(await ann.newEvents(), [
      `contact.updated ${one.id} is_self merged_into`,
      `contact.updated ${two.id} is_self`,
      `contact.updated ${two.id} is_self merged_into`,
      `contact.updated ${one.id} merged_into`,
      `contact.updated ${whole.id} is_self`,
    ]);
    t.equal(await ann.says('DELETE', `/contacts/${one.id}`), '204', 'a part alone');
    t.equal(await ann.says('DELETE', `/contacts/${whole.id}`), '204');
    t.equal(await ann.says('GET', `/contacts/${two.id}`), '404 NOT_FOUND', 'with all that was merged into it');
    t.same(
      await ann.newEvents(),
      [one, whole, two].map(({ id }) => `contact.deleted ${id}`),
    );
  });

  await t.test('K-053 contacts are found by any part of their name', async (t) => {
    for (const name of ['Zoë Ångström', 'ＡＢＣ', 'Straße', 'zoe']) await newContact(name);
    t.same(await namesOf(), ['zoe', 'Straße', 'ＡＢＣ', 'Zoë Ångström']);
    const found = (q: string) => namesOf(`&q=${encodeURIComponent(q)}`);
    t.same(await found('ZOË'), ['Zoë Ångström']);
    t.same(await found('zo'), ['zoe', 'Zoë Ångström']);
    t.same(await found('abc'), ['ＡＢＣ'], 'as a compatible form');
    t.same(await found('ngstr\u00f6m'.normalize('NFD')), ['Zoë Ångström']);
    t.same(await found('nobody'), []);
  });

  await t.test(
    'K-053 contacts are found whatever apostrophes, hyphens and dots of i they are written with',
    async (t) => {
      const dee = await TestAccount.open(spool, 'dee@x.test');
      const make = (name: string) => dee.ask('POST', '/contacts', { name });
      for (const name of ['O’Brien', 'İpek Işık', 'Jean‑Luc', 'Ann «Bo» Lee']) await make(name);
      const found = async (q: string) => {
        const { items } = await dee.ask<Page>('GET', `/contacts?q=${encodeURIComponent(q)}`);
        return items.map(({ name }) => name);
      };
      for (const q of ["o'brien", 'OʼBRIEN', 'o‘b', 'O＇Brien']) t.same(await found(q), ['O’Brien'], q);
      for (const q of ['ipek', 'İPEK', 'ışık', 'IŞIK', 'işik']) t.same(await found(q), ['İpek Işık'], q);
      for (const q of ['jean-luc', 'Jean–Luc']) t.same(await found(q), ['Jean‑Luc'], q);
      t.same(await found('"bo"'), ['Ann «Bo» Lee']);
    },
  );

  await t.test('K-053 a search that finds little gives up after a while, with a cursor', async (t) => {
    const cid = await TestAccount.open(spool, 'cid@x.test');
    const contacts = spool.server.services.actors.contacts(cid.id);
    const partition = partitionOfId(cid.id);
    const now_ms = spool.server.services.clock.now();
    const count = LIMITS.contacts_scanned_max + 300;
    const make = (index: number) =>
      contacts.create({
        contact_id: randomId({ partition, now_ms }),
        name: index === 0 ? 'Rare' : `N${index}`,
        is_self: false,
      });
    for (let from = 0; from < count; from += 200)
      await Promise.all(Array.from({ length: Math.min(200, count - from) }, (_, index) => make(from + index)));
    const first = await cid.ask<Page>('GET', '/contacts?q=rare');
    t.same(first.items, []);
    t.not(first.cursor, null);
    const second = await cid.ask<Page>('GET', `/contacts?q=rare&cursor=${first.cursor}`);
    t.same([second.items.map(({ name }) => name), second.cursor], [['Rare'], null]);
  });

  await t.test('K-058 I-020 a voice is shown by what is known of it, is forgotten, and expires', async (t) => {
    const contacts = spool.server.services.actors.contacts(ann.id);
    const now = async () => (await spool.operator.advanceClock(0)).now;
    const [workspace_id, speaker] = [randomUUID(), 1];
    const stream_id = randomId({ partition: partitionOfId(ann.id), now_ms: Date.parse(await now()) });
    const learn = () =>
      contacts.learn_voice({ workspace_id, stream_id, speaker, model: 'm', embedding: Buffer.from('embeddingmark') });
    const contact_id = randomId({ partition: partitionOfId(ann.id), now_ms: Date.parse(await now()) });
    await ann.newEvents();
    t.same(await learn(), { kept: true });
    const voice_id = voiceId(stream_id, speaker);
    t.same(await contacts.match_voice({ workspace_id, voice_id, contact_id }), { contact_id });
    const made = await read(contact_id);
    t.match(made, { name: null, voice: { state: 'recognized', last_matched_at: made.created_at, removed_at: null } });
    t.same((await ann.ask<Page>('GET', '/contacts?limit=1')).items, [made], 'in the list too');
    t.equal(await ann.says('DELETE', `/contacts/${contact_id}/voice`), '204');
    t.same((await read(contact_id)).voice, NO_VOICE);
    t.equal(await ann.says('DELETE', `/contacts/${contact_id}/voice`), '204', 'there is none any more');
    t.same(await contacts.voices({ workspace_id }), { voices: [] });

    await learn();
    await contacts.name_voice({ workspace_id, stream_id, speaker, contact_id });
    t.same(await contacts.voices({ workspace_id }), { voices: [{ id: voice_id, contact_id, model: 'm' }] });
    const expiry = { workspace_id, sweep_id: 'x', before_ms: null, library_id: randomUUID() };
    await spool.operator.advanceClock(1_000);
    t.same(await contacts.expire_voices(expiry), { removed: 1, left: false });
    t.match((await read(contact_id)).voice, { state: 'expired', last_matched_at: null, removed_at: /Z$/ });
    t.same(await ann.newEvents(), [
      `contact.created ${contact_id}`,
      `contact.updated ${contact_id} voice`,
      `contact.updated ${contact_id} voice`,
    ]);
    const answers = await Promise.all(
      ['/contacts', `/contacts/${contact_id}`, '/events'].map((path) => ann.app.send('GET', path)),
    );
    for (const { body } of answers) t.notOk(/embeddingmark|ZW1iZWRkaW5nbWFyaw/.test(body.toString()));
  });

  await t.test('K-006 K-016 reading takes turns:read, writing turns:write, and the layer', async (t) => {
    const eva = await newContact('Eva');
    const path = `/contacts/${eva.id}`;
    const reads: [string, string, unknown?][] = [
      ['GET', '/contacts'],
      ['GET', path],
    ];
    const writes: [string, string, unknown?][] = [
      ['POST', '/contacts', { name: 'x' }],
      ['PATCH', path, { name: 'x' }],
      ['POST', `${path}/merge`, { into: UNKNOWN }],
      ['DELETE', `${path}/voice`],
      ['DELETE', path],
    ];
    const tokenOf = async (permissions: string[]) => {
      const body = { name: 'tool', permissions, expires_at: null };
      return bearer(spool, (await ann.ask<{ value: string }>('POST', '/me/tokens', body)).value);
    };
    const reader = await tokenOf(['turns:read', 'insights:write']);
    const writer = await tokenOf(['turns:write']);
    for (const [method, at, body] of writes) t.equal((await reader.send(method, at, { body })).status, 403, method);
    for (const [method, at] of reads) {
      t.equal((await reader.send(method, at)).status, 200, at);
      t.equal((await writer.send(method, at)).status, 403, at);
    }
    t.equal((await writer.send('PATCH', path, { body: { name: 'Written' } })).status, 200);
    await ann.entitle('transcripts.access', false);
    for (const [method, at, body] of [...reads, ...writes])
      t.equal(await ann.says(method, at, body), '403 FORBIDDEN', `${method} ${at}`);
    await ann.entitle('transcripts.access', true);
    t.equal((await read(eva.id)).name, 'Written');
  });
});
