/** For recording devices in Node. */

export type { Binding, DeviceApi, Upload, UploadIntent } from './api.js';
export { CallRefused, NoAnswer } from './call.js';
export { certificateRequest, newPrivateKey } from './certificate_request.js';
export { type ChunkIntent, type Repeat, sendChunk, sendChunks } from './chunk_sender.js';
export {
  DeviceClient,
  type DeviceCredentials,
  type DeviceOptions,
  type Encoding,
  JSON_ENCODING,
  sha256Of,
} from './device_client.js';
export type { PcmCodec, PcmFormat } from './pcm.js';
export { PcmRecording } from './pcm_recording.js';
export { type Notice, Recorder, type RecorderOptions, type StreamStart } from './recorder.js';
export { Patience, type PatienceOptions } from './retries.js';
export { referenceOf } from './stream_queue.js';
