import type { IncomingMessage } from 'node:http';
import { bodyOf, type ScriptedAnswer, ScriptedServer, type ServerOptions } from './scripted_server.js';

export type ChatTurn = { turn: number; speaker: string | null; text: string };

export type ChatRequest = {
  authorization: string | null;
  body: {
    model?: string;
    messages: { role: string; content: string }[];
    response_format?: { type: string; json_schema?: { name: string; strict: boolean; schema: object } };
    temperature?: number;
    tools?: unknown;
  };
  system: string;
  user: {
    started_at: string;
    what_people_said: { note: string; turns: ChatTurn[] };
    people: { speaker: string; name: string | null; owns_the_account: boolean }[];
    suggestions: { ref: number; kind: string; text: string; status: string; due_at: string | null }[];
    memories: { ref: number; kind: string; text: string }[];
    account: { about: string | null; languages: string[]; vocabulary: string[]; context: string[] };
    /** Of a person who asks; the server asks for insights without one. */
    question?: string;
    /** Of the question about a conversation in parts. */
    parts?: ChatSummary[];
  };
};

type ChatSummary = {
  title: string | null;
  sentences: { text: string; evidence: { turn: number; quote: string }[] }[];
  topics: string[];
};

/** A server at INSIGHTS_URL that says what a script says: `thinks` gets what it was asked, read back from the messages. */
export class ScriptedChat extends ScriptedServer<ChatRequest> {
  /** Makes the model's answer, as an object. */
  thinks: (request: ChatRequest) => object = promisesOf;

  /** Answers in place of the model; null for what it leaves to it. */
  refuses: (request: ChatRequest) => ScriptedAnswer | null = () => null;

  static start({ teardown, keeps_requests = true }: ServerOptions = {}): Promise<ScriptedChat> {
    return new ScriptedChat({ path: '/v1/chat/completions', begins: '{"choices": [', keeps_requests }).listen(teardown);
  }

  protected answerTo(request: ChatRequest): ScriptedAnswer {
    return this.refuses(request) ?? completion(this.thinks(request));
  }

  protected async read(incoming: IncomingMessage): Promise<ChatRequest> {
    const body = JSON.parse((await bodyOf(incoming)).toString()) as ChatRequest['body'];
    const said = (role: string) => body.messages.find((message) => message.role === role)?.content ?? '';
    return {
      ...{ authorization: incoming.headers.authorization ?? null, body, system: said('system') },
      user: JSON.parse(said('user')) as ChatRequest['user'],
    };
  }
}

/** An answer whose message is this object, or this text. */
export function completion(said: object | string): ScriptedAnswer {
  const content = typeof said === 'string' ? said : JSON.stringify(said);
  return chosen({ content });
}

/** An answer with this message. */
export function chosen(message: object, finish_reason: 'stop' | 'length' = 'stop'): ScriptedAnswer {
  const choices = [{ index: 0, finish_reason, message: { role: 'assistant', ...message } }];
  return { status: 200, body: JSON.stringify({ object: 'chat.completion', choices }) };
}

const SENTENCES_MAX = 3;

/** A title, a summary, and a task of each turn that says "I will". */
function promisesOf({ user }: ChatRequest): object {
  if (user.parts !== undefined) {
    const sentences = user.parts.flatMap((part) => part.sentences).slice(0, SENTENCES_MAX);
    return { title: user.parts[0]?.title ?? null, sentences, topics: [] };
  }
  const { turns } = user.what_people_said;
  const promises = turns.filter(({ text }) => /\bI will\b/.test(text));
  return {
    conversation: summaryOf(turns),
    suggestions: promises
      .filter(({ text }) => !user.suggestions.some((known) => known.text === text))
      .map(({ turn, text, speaker }) => ({
        ...{ op: 'new', ref: null, kind: 'task', text, due_at: null, owner: speaker, requester: null },
        evidence: [{ turn, quote: text }],
      })),
    memories: [],
  };
}

function summaryOf(turns: readonly ChatTurn[]): ChatSummary {
  return {
    title: turns[0]?.text.slice(0, 60) || null,
    sentences: turns.slice(0, SENTENCES_MAX).map(({ turn, text }) => ({
      text: text.slice(0, 300),
      evidence: [{ turn, quote: text.slice(0, 300) }],
    })),
    topics: [],
  };
}
