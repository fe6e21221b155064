const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENS_LIST, ENDS_LIST, OPENS_OBJECT, ENDS_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** The depth of JSON that other programs write: `JSON.parse` takes 70 bytes for each level, also of what it then refuses. */
export const JSON_DEPTH_MAX = 64;

/** Whether JSON has arrays and objects in more than `JSON_DEPTH_MAX` levels. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  let is_string = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) is_string = !is_string;
    else if (is_string) at += code === BACKSLASH ? 1 : 0;
    else if (code === OPENS_LIST || code === OPENS_OBJECT) {
      depth += 1;
      if (depth > JSON_DEPTH_MAX) return true;
    } else if (code === ENDS_LIST || code === ENDS_OBJECT) depth -= 1;
  }
  return false;
}
