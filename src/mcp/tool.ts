import type { z } from 'zod';
import type { Permission } from '../domain/permissions.js';
import type { Refusal } from '../domain/refusals.js';
import type { Principal } from '../http/principal.js';
import type { Services } from '../services.js';

/** Who calls a tool. */
export type Caller = { services: Services; who: Principal; request_id: string };

type ToolHints = { readOnlyHint: boolean; destructiveHint?: boolean; idempotentHint?: boolean; openWorldHint: boolean };

/** At what is ours. */
export const LOOKS: ToolHints = { readOnlyHint: true, openWorldHint: false };
/** From then on data goes out to where the caller says. */
export const SENDS_OUT: ToolHints = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
};
/** Something ends that does not come back. */
export const ENDS: ToolHints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: true,
  openWorldHint: false,
};

/** One tool, as a row. What it gives goes to the client as it is, and as text. */
export type Tool = {
  name: string;
  title: string;
  description: string;
  /** The caller must hold one of these; nobody in particular when empty. Others do not see the tool. */
  permissions: readonly Permission[];
  input: z.ZodType;
  /** What it gives when nothing is refused. */
  output: z.ZodType;
  /** What clients learn of its effects; absent, it only reads. */
  does?: ToolHints;
  handler: (caller: Caller, input: never) => Promise<Record<string, unknown> | Refusal>;
};

/** Whether the caller may use a tool. */
export function isAllowed({ permissions }: Tool, who: Pick<Principal, 'permissions'>): boolean {
  return permissions.length === 0 || permissions.some((wanted) => who.permissions.includes(wanted));
}

/** Keeps the input's own type for its handler. */
export function tool<Input extends z.ZodType>(
  row: Omit<Tool, 'input' | 'handler'> & {
    input: Input;
    handler: (caller: Caller, input: z.output<Input>) => ReturnType<Tool['handler']>;
  },
): Tool {
  return row;
}
