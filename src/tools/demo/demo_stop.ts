/** The demo can't go on; the message says why in words for the person at the terminal. */
export class DemoStop extends Error {
  override name = 'DemoStop';
}
