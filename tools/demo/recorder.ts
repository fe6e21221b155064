import { randomBytes, randomUUID } from 'node:crypto';
import pMap from 'p-map';
import type { AppClient } from '../../kits/typescript/src/app_client.js';
import { sendChunk } from '../../kits/typescript/src/chunk_sender.js';
import { DeviceClient, sha256Of } from '../../kits/typescript/src/device_client.js';
import type { OperatorClient } from '../../kits/typescript/src/operator_client.js';
import type { Patience } from '../../kits/typescript/src/retries.js';
import { CBOR_ENCODING } from '../cbor_encoding.js';
import { UserError } from '../user_error.js';
import type { UploadProgress } from './progress.js';
import type { DemoRecording, RecordingPiece } from './recording.js';

const UPLOADS_IN_FLIGHT = 4;
const SESSION_MS = 3_600_000;
const BLE_ADDRESS_BYTES = 6;

/** A simulated device that is bound. */
export type BoundDevice = { device: DeviceClient; epoch: string };

type NamedBinding = BoundDevice & { device_id: string };

/** One with a stream that it records. */
export type DemoRecorder = BoundDevice & { stream_id: string; source_stream_ref: string };

export type World = { device_url: string; operator: OperatorClient; app: AppClient; patience: Patience };

/** A new device, claimed for the account, whose stream is registered. */
export async function makeRecorder(world: World): Promise<DemoRecorder> {
  const device = await bindDevice(world);
  return registerStream(device, { captured_at: new Date().toISOString(), patience: world.patience });
}

/** A new device of the account. */
export async function bindDevice(world: World): Promise<NamedBinding> {
  const { app, patience } = world;
  const made = await makeDevice(world, 'personal');
  const { claim } = await patience.ask(() => app.call('POST /devices/claims', { body: { kind: 'owner' } }));
  return { ...made, epoch: await redeem(made.device, { claim, patience }) };
}

/** A new shared recorder in a session that the account hosts, for an hour. */
export async function hostSession(world: World): Promise<NamedBinding & { session_id: string; join_code: string }> {
  const { app, patience } = world;
  const made = await makeDevice(world, 'shared');
  const body = { expires_at: new Date(Date.now() + SESSION_MS).toISOString() };
  const { claim, session } = await patience.ask(() => app.call('POST /device-sessions', { body }));
  const ble_address = randomBytes(BLE_ADDRESS_BYTES).toString('hex').toUpperCase();
  const epoch = await redeem(made.device, { claim, ble_address, patience });
  return { ...made, epoch, session_id: session.id, join_code: session.join_code ?? '' };
}

async function makeDevice({ device_url, operator, patience }: World, kind: 'personal' | 'shared') {
  const credentials = await patience.ask(() => operator.provision(kind));
  const options = { encoding: CBOR_ENCODING, maxSockets: UPLOADS_IN_FLIGHT };
  return { device_id: credentials.device_id, device: new DeviceClient(device_url, credentials, options) };
}

type Redeeming = { claim: string; ble_address?: string; patience: Patience };

async function redeem(device: DeviceClient, { patience, ...body }: Redeeming): Promise<string> {
  const { binding_epoch } = await patience.repeat(() => device.call('POST /device/claims/redeem', { body }));
  return binding_epoch;
}

/** A stream of the device that begins then. */
export async function registerStream(
  { device, epoch }: BoundDevice,
  { captured_at, patience }: { captured_at: string; patience: Patience },
): Promise<DemoRecorder> {
  const source_stream_ref = randomUUID();
  const body = { source_stream_ref, captured_at, clock_uncertainty_ms: 50, binding_epoch: epoch };
  const { id: stream_id } = await patience.repeat(() => device.call('POST /device/streams', { body }));
  return { device, epoch, stream_id, source_stream_ref };
}

type Recordings = {
  recording: Pick<DemoRecording, 'codec' | 'container' | 'pieces' | 'duration_ms'>;
  patience: Patience;
  hashes: Map<number, string>;
  chunk_ms: number[];
  lane: UploadProgress;
};

/** Uploads all pieces and ends the stream. */
export async function record({ device, epoch, source_stream_ref }: DemoRecorder, run: Recordings): Promise<void> {
  const { recording, patience, hashes, chunk_ms, lane } = run;
  const { codec, container } = recording;
  await pMap(
    recording.pieces,
    async (piece: RecordingPiece) => {
      const { sequence, start_ms, end_ms, size_bytes } = piece;
      const bytes = await piece.read();
      const sha256 = hashes.get(sequence) ?? sha256Of(bytes);
      hashes.set(sequence, sha256);
      const intent = {
        ...{ source_chunk_ref: randomUUID(), source_stream_ref, sequence, binding_epoch: epoch },
        ...{ source_start_ms: start_ms, publication_start_ms: start_ms, source_end_ms: end_ms },
        ...{ codec, container, size_bytes, sha256 },
      };
      const began = performance.now();
      const status = await sendChunk(device, (call) => patience.repeat(call), { intent, read: async () => bytes });
      if (status !== 'stored') throw new UserError(`Chunk ${sequence} is ${status} after its upload.`);
      chunk_ms.push(performance.now() - began);
      lane.chunks += 1;
      lane.bytes += size_bytes;
    },
    { concurrency: UPLOADS_IN_FLIGHT },
  );
  const end = { source_stream_ref, end_ms: recording.duration_ms, binding_epoch: epoch };
  await patience.repeat(() => device.call('POST /device/streams/end', { body: end }));
}

/** The address of somebody new. */
export function newEmail(): string {
  return `demo-${randomBytes(5).toString('hex')}@spool.example`;
}

export async function signIn(
  { app, operator, patience }: Pick<World, 'app' | 'operator' | 'patience'>,
  email: string,
): Promise<void> {
  await patience.ask(() => app.call('POST /auth/otp', { body: { email } }));
  const token = await operator.readCode(email);
  const session = await patience.ask(() => app.call('POST /auth/verify-otp', { body: { email, token } }));
  app.access_token = session.access_token;
}
