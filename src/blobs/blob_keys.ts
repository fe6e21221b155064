import { partitionOfId } from '../domain/ids.js';

/** Where all audio of a partition's streams lies in the blob store. */
export function partitionFolder(partition: number): string {
  return partition.toString(16).padStart(2, '0');
}

/** Where all audio of a stream lies there. */
export function streamFolder(stream_id: string): string {
  return `${partitionFolder(partitionOfId(stream_id))}/${stream_id}`;
}

/** Where the audio of a chunk lies there. */
export function blobKey(stream_id: string, chunk_id: string): string {
  return `${streamFolder(stream_id)}/${chunk_id}`;
}
