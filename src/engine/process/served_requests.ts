import { setPriority } from 'node:os';
import type { CommonAnswer, FurtherFrame } from './framed_process.js';
import { type PipeFrame, readFrames, writeFrame } from './frames.js';

/** The process's side of `FramedProcess`. */

const FRAME_BYTES_MAX = 8 * 1024 * 1024;

type Requests<Request> = AsyncGenerator<PipeFrame<Request | FurtherFrame>>;

/**
 * Answers requests one at a time, until the input ends, and then ends the process. `priority`: its niceness, as
 * `os.setPriority` takes it. `answer`: gets the audio that follows a request; what it throws is a failed request.
 */
export async function serveRequests<Request extends { kind: string }, Answer extends object>(
  priority: number,
  answer: (request: Request, audio: AsyncIterable<Uint8Array>) => Promise<Answer | CommonAnswer>,
): Promise<never> {
  // Ctrl-C in a terminal reaches the whole group of processes; the server ends this one.
  process.on('SIGINT', () => {});
  try {
    setPriority(priority);
  } catch {
    // Not allowed here: it runs with the priority it has.
  }
  const requests: Requests<Request> = readFrames(process.stdin, FRAME_BYTES_MAX);
  for (;;) {
    const { done, value } = await requests.next();
    if (done === true) break;
    const { said } = value;
    // The rest of audio that was not read to its end.
    if (isFurther(said)) continue;
    await writeFrame(process.stdout, await answer(said, audioOf(requests)).catch(failureOf));
  }
  process.exit(0);
}

/** The audio of a request: pieces up to the one that ends it. */
async function* audioOf<Request extends { kind: string }>(requests: Requests<Request>): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { done, value } = await requests.next();
    if (done === true || value.said.kind === 'end') return;
    yield value.bytes;
  }
}

function isFurther(said: { kind: string }): said is FurtherFrame {
  return said.kind === 'piece' || said.kind === 'end';
}

function failureOf(error: unknown): CommonAnswer {
  return { kind: 'failed', code: 'FAILED', message: error instanceof Error ? error.message : String(error) };
}
