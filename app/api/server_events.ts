/** An event as it was sent; `data` is still text. */
export type ServerSentEvent = { event: string; id: string | null; data: string };

/** The events of an answer, as they come (WHATWG HTML, "Server-sent events"). Comments are passed over. */
export async function* serverEventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== null) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Null for a comment. */
function eventOf(block: string): ServerSentEvent | null {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    if (at > 0) fields.set(line.slice(0, at), line.slice(at + 1).replace(/^ /, ''));
  }
  const data = fields.get('data');
  return data === undefined ? null : { event: fields.get('event') ?? 'message', id: fields.get('id') ?? null, data };
}
