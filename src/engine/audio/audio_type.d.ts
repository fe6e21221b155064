/** The package has no types of its own. */
declare module 'audio-type' {
  /** The kind of a file by its first bytes, such as `mp3`; undefined where they are of none. */
  export default function audioType(head: Uint8Array): string | undefined;
}
