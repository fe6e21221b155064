/** Which of our two addresses a grant was made at, and is valid at. */
export type Issuer = 'base' | 'legacy';

/** The audience of a token: the whole API (REST and MCP), or the MCP server alone. Rules C-045 to C-048. */
export type Audience = 'api' | 'mcp';

export const MCP_PATH = '/mcp';

/** The address with a slash at its end, as some people and clients send it. The resource's name has none. */
export const MCP_PATH_WITH_SLASH = `${MCP_PATH}/`;

/** The resource's address, as tokens name it. */
export function audienceUrl(issuer_url: string, audience: Audience): string {
  return audience === 'api' ? issuer_url : issuer_url + MCP_PATH;
}

/**
 * The audience that a `resource` parameter names at this issuer, or null. Origins are compared as origins: letter case
 * of the host, a default port or a slash at the end make no difference (RFC 3986, 6.2.3). Several with spaces between
 * name none: a token has one audience.
 */
export function audienceOf(issuer_url: string, resource: string): Audience | null {
  if (!URL.canParse(resource) || /[\s\\#?]/.test(resource)) return null;
  const url = new URL(resource);
  if (url.origin !== issuer_url || url.username !== '' || url.password !== '') return null;
  const path = url.pathname.replace(/\/$/, '');
  return path === '' ? 'api' : path === MCP_PATH ? 'mcp' : null;
}
