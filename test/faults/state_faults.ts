import { setTimeout as pause } from 'node:timers/promises';
import { partitionOfId } from '../../src/domain/ids.js';
import { encodeStored } from '../../src/engine/store/codec.js';
import { keysOf } from '../../src/engine/store/partitions.js';
import { answerOf } from '../driver/history.js';
import type { AppClient } from '../fixtures/app_client.js';
import { ENTITY_KINDS, Load } from './load.js';

import { didEnough, LEAST_OK, type Trial } from './trial.js';

/** Fault 11: snapshots that can't be read, beside all others at work. */

const HEADER_BYTES = (value: Buffer) => 1 + (value[0] ?? 0) * 20;
const NEWER = 'of a newer schema';
const NEWER_RETRY_MS = 1_000;
const MUST = { kinds: ENTITY_KINDS, least: LEAST_OK };
const SPOILT: [title: string, spoil: (good: Buffer) => Buffer][] = [
  ['no CBOR', (good) => Buffer.concat([good.subarray(0, HEADER_BYTES(good)), Buffer.from('ff00ff', 'hex')])],
  ['cut short', (good) => good.subarray(0, 9)],
  [NEWER, (good) => Buffer.concat([good.subarray(0, HEADER_BYTES(good)), encodeStored({ k: 99, s: {} })])],
];

export async function snapshotsSpoilt(trial: Trial): Promise<void> {
  const rig = await trial.open();
  const load = await Load.open(rig, trial.random);
  const redis = await rig.connect();
  const victims: { id: string; key: string; good: Buffer; app: AppClient; title: string }[] = [];
  for (const [index, [title, spoil]] of SPOILT.entries()) {
    const { user, access_token: token } = await rig.signIn(`victim${index}@x.test`);
    const key = keysOf(partitionOfId(user.id)).entity({ kind: 'account', id: user.id });
    const good = (await redis.getBuffer(key)) as Buffer;
    victims.push({ id: user.id, key, good, title, app: rig.clients(token)[0] as AppClient });
    await redis.set(key, spoil(good));
  }
  await rig.first.restart(); // nothing of them is in memory
  const askAll = async () => {
    for (const { app, title } of victims) {
      const { status } = await answerOf(app.ask('GET', '/me'));
      // One of a newer server is only not for this one.
      trial.must(
        title === NEWER ? status === 503 : [500, 503].includes(status),
        `a snapshot that is ${title}: ${status}`,
      );
    }
    await trial.between(20, 100);
  };
  await load.run(trial.repeat(askAll, () => didEnough(load, MUST)));
  const { quarantined } = await rig.operator.ask<{ quarantined: { kind: string; id: string }[] }>(
    'GET',
    '/ops/actors?limit=100',
  );
  trial.must(
    quarantined
      .map(({ id }) => id)
      .toSorted()
      .join() ===
      victims
        .filter(({ title }) => title !== NEWER)
        .map(({ id }) => id)
        .toSorted()
        .join(),
    `quarantined: ${quarantined.map(({ kind, id }) => `${kind} ${id}`).join()}`,
  );
  for (const { id, key, good, app, title } of victims) {
    await redis.set(key, good);
    if (title === NEWER) await pause(NEWER_RETRY_MS);
    else await rig.operator.ask('POST', '/ops/quarantined/retry', { kind: 'account', id });
    const { status } = await answerOf(app.ask('GET', '/me'));
    trial.must(status === 200, `mended and tried again, one that was ${title}: ${status}`);
  }
  await trial.settle(rig, load, MUST);
}
