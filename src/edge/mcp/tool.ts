import type { Logger } from 'pino';
import type { z } from 'zod';
import type { AccessRule } from '../../access/access.js';
import type { PublicAddresses } from '../../access/issuer.js';
import type { Principal } from '../../access/principal.js';

/** The services of the MCP server itself. Tools get more. */
type McpServices = { log: Logger; addresses(): PublicAddresses };

/** Who calls a tool. */
export type CallerOfTool<Services = McpServices> = { services: Services; who: Principal; request_id: string };

export type ToolHints = {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint: boolean;
};

/** At what is ours. */
export const LOOKS: ToolHints = { readOnlyHint: true, openWorldHint: false };
/** Something is added each time. */
export const ADDS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: false,
};
/** Something is as the caller says; it can be set back, and nothing is lost. */
export const SETS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
/** From then on data goes out to where the caller says. */
export const SENDS_OUT: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
/** Something ends or is replaced, and does not come back by itself. */
export const ENDS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};

/** One tool, as a row. What it gives goes to the client as it is, and as text: its own, or the main things of it. */
export type Tool = AccessRule & {
  name: string;
  title: string;
  description: string;
  input: z.ZodType;
  /** Arguments that are right, for whoever sends wrong ones. */
  example: Readonly<Record<string, unknown>>;
  /** The schema of a result. Clients are told an outline of it. */
  output: z.ZodType;
  /** A short text of a result, where that is long and need not come twice. */
  text?: (result: never) => string;
  /** The hints on its effects that clients get; absent, it only reads. */
  does?: ToolHints;
  handler: (caller: CallerOfTool<never>, input: never) => Promise<Record<string, unknown>>;
};

/** Makes tools whose handler's types follow from the services and the input's schema. */
export function toolOf<Services>() {
  return <Input extends z.ZodType, Output extends z.ZodType>(
    row: Omit<Tool, 'input' | 'output' | 'text' | 'handler'> & {
      input: Input;
      output: Output;
      text?: (result: z.output<Output>) => string;
      handler: (caller: CallerOfTool<Services>, input: z.output<Input>) => ReturnType<Tool['handler']>;
    },
  ): Tool => row as unknown as Tool;
}
