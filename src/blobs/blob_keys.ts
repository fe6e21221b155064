import { partitionOfId } from '../vocabulary/ids.js';

/** Where all audio of a stream lies in the blob store. */
export function streamFolder(stream_id: string): string {
  return `${partitionOfId(stream_id).toString(16).padStart(2, '0')}/${stream_id}`;
}

/** Where the audio of a chunk lies there. */
export function blobKey(stream_id: string, chunk_id: string): string {
  return `${streamFolder(stream_id)}/${chunk_id}`;
}
