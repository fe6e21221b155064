import { randomBytes, randomUUID } from 'node:crypto';
import net from 'node:net';
import type { Readable } from 'node:stream';
import t from 'tap';
import { type IntentView, sha256Of } from '../../../kits/typescript/src/device_client.js';
import { LIMITS } from '../../../src/domain/limits.js';
import { TestSpool } from '../../fixtures/spool.js';

t.test('a download that its client does not read is given up, and its file closed', async (t) => {
  const spool = await TestSpool.start();
  t.teardown(() => spool.end());
  const { app } = await spool.signIn('reader@x.test');
  const { device, epoch: binding_epoch } = await spool.boundDevice(app);
  const source_stream_ref = randomUUID();
  const captured_at = '2026-11-01T10:00:00Z';
  await device.ask('POST', '/device/streams', {
    ...{ source_stream_ref, captured_at, clock_uncertainty_ms: 0, binding_epoch },
  });
  const bytes = randomBytes(LIMITS.chunk_bytes_max); // more than the sockets of both sides hold
  const { upload_path, chunk_id } = await device.ask<IntentView>('POST', '/device/chunks/intents', {
    ...{ source_chunk_ref: randomUUID(), source_stream_ref, binding_epoch, sequence: 0 },
    ...{ source_start_ms: 0, publication_start_ms: 0, source_end_ms: 1000, codec: 'opus', container: 'ogg' },
    ...{ size_bytes: bytes.length, sha256: sha256Of(bytes) },
  });
  await device.upload(upload_path, bytes);
  const { blobs } = spool.server.services;
  const open = blobs.open.bind(blobs);
  const opened = new Promise<Readable>((resolve) => {
    blobs.open = async (...wanted) => {
      const blob = await open(...wanted);
      if (blob !== null) resolve(blob.stream);
      return blob;
    };
  });
  const reader = net.connect(spool.server.ports.public, '127.0.0.1').pause();
  t.teardown(() => reader.destroy());
  reader.write(
    `GET /audio/chunks/${chunk_id}/content HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.access_token}\r\n\r\n`,
  );
  const stream = await opened;
  await new Promise((resolve) => stream.once('error', () => {}).once('close', resolve));
  t.notOk(stream.readableEnded);
});
