import { AUTH_ROUTES } from './auth.js';
import { CHUNK_ROUTES } from './device/chunks.js';
import { CLAIM_ROUTES } from './device/claims.js';
import { DEVICE_STREAM_ROUTES } from './device/streams.js';
import { DEVICE_MANAGEMENT_ROUTES } from './devices.js';
import { EVENT_ROUTES } from './events.js';
import { MCP_ROUTES } from './mcp/messages.js';
import { ME_ROUTES } from './me.js';
import { METADATA_ROUTES } from './oauth/metadata.js';
import { OPERATOR_ROUTES } from './operator.js';
import type { Route } from './route.js';
import { STREAM_ROUTES } from './streams.js';

/** The whole API: what each listener serves. */
export const ROUTES: Record<'public' | 'device' | 'operator', readonly Route[]> = {
  public: [
    ...AUTH_ROUTES,
    ...ME_ROUTES,
    ...EVENT_ROUTES,
    ...DEVICE_MANAGEMENT_ROUTES,
    ...STREAM_ROUTES,
    ...METADATA_ROUTES,
    ...MCP_ROUTES,
  ],
  device: [...CLAIM_ROUTES, ...DEVICE_STREAM_ROUTES, ...CHUNK_ROUTES],
  operator: OPERATOR_ROUTES,
};
