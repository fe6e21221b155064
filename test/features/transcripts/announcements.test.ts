import t from 'tap';
import { CONTACTS_MEMBER } from '../../../actors/transcripts/announcement_index.js';
import type { Contact } from '../../../kits/typescript/src/api.js';
import { TestAccount } from '../../fixtures/account.js';
import { TestSpool } from '../../fixtures/spool.js';
import { said, TestRecording, TestTranscriber } from '../../fixtures/transcribing.js';

t.test('what changed in turns is announced', async (t) => {
  const spool = await TestSpool.start({ RATE_LIMITS: 'off', CHUNK_WORKER: '1', CONTENT_WORKER: '0' });
  t.teardown(() => spool.end());
  const ann = await TestAccount.open(spool, 'ann@x.test');
  const worker = new TestTranscriber(spool);
  const { actors, store, announcements } = spool.server.services;
  const newContact = (name: string) => ann.ask<Contact>('POST', '/contacts', { name });
  /** A recording with turns of two speakers, A twice. */
  const recorded = async (source_id?: string) => {
    const recording = await TestRecording.begin(ann, source_id === undefined ? {} : { source_id });
    await recording.add(10_000);
    await recording.end();
    const turns = [
      said('One.', [0, 1_000], 'A'),
      said('Two.', [2_000, 3_000], 'B'),
      said('Three.', [4_000, 5_000], 'A'),
    ];
    await worker.publish(await worker.claim(recording.id), turns);
    return recording;
  };
  const assign = (recording: TestRecording, speaker: string, contact_id: string | null) =>
    ann.ask('PATCH', `/audio/streams/${recording.id}/speakers/${speaker}`, { contact_id });
  const updates = async (recording: TestRecording, indices: number[]) => {
    const turns = await recording.turns();
    return indices.map((index) => `turn.updated ${turns[index]?.id} contact_id ${recording.source_id}`);
  };
  const shown = async (recording: TestRecording) => (await recording.turns()).map(({ speaker_name }) => speaker_name);

  await t.test('K-005 K-055 each turn of a speaker says that it has a contact, before the answer', async (t) => {
    const [recording, eva, bob, whole] = [
      await recorded(),
      await newContact('Eva'),
      await newContact('Bob'),
      await newContact('Whole'),
    ];
    await ann.newEvents();
    await assign(recording, 'S1', eva.id);
    await assign(recording, 'S2', bob.id);
    t.same(await shown(recording), ['Eva', 'Bob', 'Eva']);
    t.same(await ann.newEvents(), [...(await updates(recording, [0, 2])), ...(await updates(recording, [1]))]);

    await ann.ask('PATCH', `/contacts/${eva.id}`, { name: 'Eva Berg' });
    t.same(await shown(recording), ['Eva Berg', 'Bob', 'Eva Berg']);
    t.same(await ann.newEvents(), [`contact.updated ${eva.id} name`], 'a renamed contact changes no turn');

    await ann.ask('POST', `/contacts/${eva.id}/merge`, { into: whole.id });
    t.same(await shown(recording), ['Whole', 'Bob', 'Whole']);
    t.match((await recording.turns())[0], { contact_id: whole.id });
    t.same(await ann.newEvents(), [`contact.updated ${eva.id} merged_into`, ...(await updates(recording, [0, 2]))]);

    await ann.ask('DELETE', `/contacts/${bob.id}`);
    t.same(await shown(recording), ['Whole', null, 'Whole']);
    t.same(await ann.newEvents(), [`contact.deleted ${bob.id}`, ...(await updates(recording, [1]))]);

    await ann.ask('DELETE', `/contacts/${whole.id}`);
    t.same(await shown(recording), [null, null, null]);
    const deleted = [whole, eva].map(({ id }) => `contact.deleted ${id}`);
    t.same(await ann.newEvents(), [...deleted, ...(await updates(recording, [0, 2]))], 'and what was merged into it');
    t.match(await actors.contacts(ann.id).take_change({ holder: 'x' }), { change: null }, 'nothing is left to tell');
  });

  await t.test('K-055 what a process left behind is announced by the next, each turn once', async (t) => {
    const recordings = [await recorded(), await recorded(), await recorded()];
    const [eva, bob] = [await newContact('Eva'), await newContact('Bob')];
    for (const recording of recordings) await assign(recording, 'S1', eva.id);
    await ann.newEvents();
    // As a process leaves it that stopped at this moment, with one of three transcripts told.
    const contacts = actors.contacts(ann.id);
    await contacts.merge({ contact_id: eva.id, into: bob.id });
    const taken = await contacts.take_change({ holder: 'stopped' });
    const number = 'change' in taken ? (taken.change?.number ?? 0) : 0;
    const place = { owner: ann.id, partition: Number.parseInt(ann.id.slice(-2), 16) };
    const [first] = await store.list(place, `transcripts:${eva.id}`, { descending: false, limit: 1 });
    await actors.transcript(first?.member as string).contact_changed({ contact_id: eva.id, into: bob.id, number });
    await contacts.announced({ number, after: first ?? null });

    await announcements.offer(CONTACTS_MEMBER + ann.id);
    t.same(await ann.newEvents(), [`contact.updated ${eva.id} merged_into`], 'somebody else has it');
    await spool.operator.advanceClock(61_000);
    const expected = (await Promise.all(recordings.map((recording) => updates(recording, [0, 2])))).flat();
    t.same((await ann.newEvents()).sort(), expected.sort());
    await spool.operator.advanceClock(61_000);
    t.same(await ann.newEvents(), []);
  });

  await t.test('K-002 K-055 nothing is said of turns whose source is deleted', async (t) => {
    const [gone, kept, eva] = [await recorded(), await recorded(), await newContact('Eva')];
    for (const recording of [gone, kept]) await assign(recording, 'S1', eva.id);
    const of_kept = await updates(kept, [0, 2]);
    await ann.ask('DELETE', `/sources/${gone.source_id}`);
    await ann.newEvents();
    await ann.ask('DELETE', `/contacts/${eva.id}`);
    t.same(await ann.newEvents(), [`contact.deleted ${eva.id}`, ...of_kept]);
    await spool.operator.advanceClock(61_000);
    t.same(await ann.newEvents(), []);
    t.match(await actors.transcript(gone.id).view(), { announcing: [] });
  });

  await t.test('K-056 K-057 a voice that a worker hears again is a contact, which a person names', async (t) => {
    const embedding = Buffer.from('embeddingmark').toString('base64');
    const heard = async (result: (known: string | undefined) => unknown[]) => {
      const recording = await TestRecording.begin(ann);
      await recording.add(5_000);
      await recording.end();
      const work = await worker.claim(recording.id);
      const known = work.known_speakers.find(({ voice }) => voice?.embedding === embedding)?.voice?.id;
      await worker.publish(work, [said('Here I am.', [0, 1_000], 'A')], { speakers: result(known) });
      return { recording, known };
    };
    await ann.newEvents();
    const first = await heard(() => [{ speaker: 'A', voice: { model: 'm', embedding } }]);
    t.equal(first.known, undefined, 'nobody knew it');
    const second = await heard((known) => [{ speaker: 'A', matches: known }]);
    const [turn] = await second.recording.turns();
    t.match(turn, { attribution: 'recognized', contact_id: /./, speaker_name: null });
    const contact = await ann.ask<Contact>('GET', `/contacts/${turn?.contact_id}`);
    t.match(contact, { name: null, voice: { state: 'recognized' } });
    await ann.ask('PATCH', `/contacts/${contact.id}`, { name: 'Eva' });
    t.same(await shown(second.recording), ['Eva']);
    const third = await heard((known) => [{ speaker: 'A', matches: known }]);
    t.same(await shown(third.recording), ['Eva']);
    const events = await ann.newEvents();
    t.same(events.filter((text) => text.startsWith('contact.')).length, 2, 'made, and named');

    const bob = await newContact('Bob');
    await assign(first.recording, 'S1', bob.id);
    const fourth = await heard((known) => [{ speaker: 'A', matches: known }]);
    t.same(await shown(fourth.recording), ['Bob'], 'the voice is whose the speaker is that it was learned of');
  });
});
