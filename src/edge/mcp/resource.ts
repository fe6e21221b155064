import type { AccessRule } from '../../access/access.js';
import type { CallerOfTool } from './tool.js';

/** Texts of one kind that assistants read by their address, as a row. `id` in braces stands for the id in an address. */
export type ResourceTemplate = AccessRule & {
  name: string;
  title: string;
  description: string;
  uri: `${string}{id}${string}`;
  mime_type: string;
  read: (caller: CallerOfTool<never>, id: string) => Promise<string>;
};

/** The id in an address of this template; null for an address of another. */
export function idIn({ uri }: Pick<ResourceTemplate, 'uri'>, address: string): string | null {
  const [before = '', after = ''] = uri.split('{id}');
  if (!address.startsWith(before) || !address.endsWith(after)) return null;
  const id = address.slice(before.length, address.length - after.length);
  return /^[0-9a-f-]{36}$/i.test(id) ? id.toLowerCase() : null;
}
