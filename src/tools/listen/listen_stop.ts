/** Listening can't begin or go on; the message says why in words for the person at the terminal. */
export class ListenStop extends Error {
  override readonly name = 'ListenStop';
}
