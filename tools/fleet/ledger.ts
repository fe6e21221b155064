import type { Utterance } from '../speech/audible_script.js';

/** The recordings of the fleet, for comparison with what the server has in the end. */
export type SentStream = {
  /** The server's, once it has said it. */
  id: string | null;
  source_stream_ref: string;
  epoch: string;
  captured_at: string;
  end_ms: number | null;
  /** By sequence. */
  chunks: Map<number, { sha256: string; start_ms: number; end_ms: number; says: Utterance | null }>;
};

/** Of one account. */
export class Ledger {
  readonly streams: SentStream[] = [];
  readonly sessions = new Set<string>();

  stream(of: Pick<SentStream, 'source_stream_ref' | 'epoch' | 'captured_at'>): SentStream {
    const stream: SentStream = { id: null, end_ms: null, chunks: new Map(), ...of };
    this.streams.push(stream);
    return stream;
  }
}
