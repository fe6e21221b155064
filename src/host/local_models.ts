/** A server of language models on this machine, which a start tells of and nothing uses unasked. */

/** Where Ollama listens unless it is told otherwise. */
export const OLLAMA_URL = 'http://127.0.0.1:11434';

const LOOK_MS_MAX = 300;
const ANSWER_BYTES_MAX = 1_024;
const VERSION = /^\d[\w.+-]{0,30}$/;

/** The version of an Ollama that answers at this address quickly; null if there is none. Never rejects. */
export async function ollamaVersion(url: string = OLLAMA_URL): Promise<string | null> {
  try {
    const answer = await fetch(`${url}/api/version`, { redirect: 'error', signal: AbortSignal.timeout(LOOK_MS_MAX) });
    if (!answer.ok || Number(answer.headers.get('content-length') ?? 0) > ANSWER_BYTES_MAX) return null;
    const { version } = (await answer.json()) as { version?: unknown };
    return typeof version === 'string' && VERSION.test(version) ? version : null;
  } catch {
    return null;
  }
}
