import type { IncomingMessage } from 'node:http';
import { bodyOf, type ScriptedAnswer, ScriptedServer, type ServerOptions } from './scripted_server.js';

export type EmbeddingsRequest = { authorization: string | null; body: { model?: string; input: string[] } };

/** A server at EMBED_URL: a dimension for each list of words that mean the same, which counts those in a text. */
export class ScriptedEmbeddings extends ScriptedServer<EmbeddingsRequest> {
  #meanings: readonly (readonly string[])[] = [];

  static async start(
    meanings: readonly (readonly string[])[],
    { teardown, keeps_requests = true }: ServerOptions = {},
  ): Promise<ScriptedEmbeddings> {
    const server = new ScriptedEmbeddings({ path: '/v1/embeddings', begins: '{"data": [', keeps_requests });
    server.#meanings = meanings;
    return server.listen(teardown);
  }

  protected answerTo({ body }: EmbeddingsRequest): ScriptedAnswer {
    const data = body.input.map((text, index) => ({ object: 'embedding', index, embedding: this.#vectorOf(text) }));
    return { status: 200, body: JSON.stringify({ object: 'list', data }) };
  }

  protected async read(incoming: IncomingMessage): Promise<EmbeddingsRequest> {
    const body = JSON.parse((await bodyOf(incoming)).toString()) as EmbeddingsRequest['body'];
    return { authorization: incoming.headers.authorization ?? null, body };
  }

  /** The last dimension is of no meaning, so that each text has a direction. */
  #vectorOf(text: string): number[] {
    const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
    return [...this.#meanings.map((alike) => words.filter((word) => alike.includes(word)).length), 0.1];
  }
}
