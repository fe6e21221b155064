import { INVITATIONS_PAGE_ROUTES } from './account_pages/invitations_page.js';
import { RESTORE_PAGE_ROUTES } from './account_pages/restore_page.js';
import { AUTH_ROUTES } from './auth.js';
import { CONNECTION_ROUTES } from './connections.js';
import { CERTIFICATE_ROUTES } from './device/certificates.js';
import { CHUNK_ROUTES } from './device/chunks.js';
import { CLAIM_ROUTES } from './device/claims.js';
import { DEVICE_SESSION_END_ROUTES } from './device/session.js';
import { DEVICE_STREAM_ROUTES } from './device/streams.js';
import { DEVICE_SESSION_ROUTES } from './device_sessions.js';
import { DEVICE_MANAGEMENT_ROUTES } from './devices.js';
import { ENDPOINT_ROUTES } from './endpoints.js';
import { EVENT_ROUTES } from './events.js';
import { INVITATION_ROUTES } from './invitations.js';
import { MCP_ROUTES } from './mcp/messages.js';
import { ME_ROUTES } from './me.js';
import { AUTHORIZE_ROUTES } from './oauth/authorize.js';
import { CHALLENGE_ROUTES } from './oauth/challenge.js';
import { END_SESSION_ROUTES } from './oauth/end_session.js';
import { INTROSPECT_ROUTES } from './oauth/introspect.js';
import { METADATA_ROUTES } from './oauth/metadata.js';
import { REGISTRATION_ROUTES } from './oauth/register.js';
import { SIGN_IN_ROUTES } from './oauth/sign_in.js';
import { TOKEN_ROUTES } from './oauth/token.js';
import { OPERATOR_ROUTES } from './operator.js';
import { SEEN_DEVICE_ROUTES } from './ops/devices.js';
import { SEEN_ENDPOINT_ROUTES } from './ops/endpoints.js';
import { ENTITY_ROUTES } from './ops/entities.js';
import { OVERVIEW_ROUTES } from './ops/overview.js';
import { OPERATOR_ASSET_ROUTES } from './ops/page_assets.js';
import { OPERATOR_PAGE_ROUTES } from './ops/pages.js';
import { ASSET_ROUTES } from './pages/assets.js';
import { PERSONAL_ACCESS_TOKEN_ROUTES } from './personal_access_tokens.js';
import { withReference } from './reference/documents.js';
import type { Route } from './route.js';
import { SIGNAL_ROUTES } from './signals.js';
import { SOURCE_ROUTES } from './sources.js';
import { STAFF_CHUNK_ROUTES } from './staff_chunks.js';
import { STAFF_CLIENT_ROUTES } from './staff_clients.js';
import { STAFF_GRANT_ROUTES } from './staff_grants.js';
import { STREAM_ROUTES } from './streams.js';
import { WORKSPACE_ROUTES } from './workspaces.js';

/** The whole API: what each listener serves. */
export const ROUTES: Record<'public' | 'device' | 'operator', readonly Route[]> = withReference({
  public: [
    ...AUTH_ROUTES,
    ...ME_ROUTES,
    ...CONNECTION_ROUTES,
    ...PERSONAL_ACCESS_TOKEN_ROUTES,
    ...WORKSPACE_ROUTES,
    ...INVITATION_ROUTES,
    ...EVENT_ROUTES,
    ...ENDPOINT_ROUTES,
    ...DEVICE_MANAGEMENT_ROUTES,
    ...DEVICE_SESSION_ROUTES,
    ...SOURCE_ROUTES,
    ...STREAM_ROUTES,
    ...SIGNAL_ROUTES,
    ...METADATA_ROUTES,
    ...REGISTRATION_ROUTES,
    ...AUTHORIZE_ROUTES,
    ...SIGN_IN_ROUTES,
    ...TOKEN_ROUTES,
    ...INTROSPECT_ROUTES,
    ...END_SESSION_ROUTES,
    ...CHALLENGE_ROUTES,
    ...RESTORE_PAGE_ROUTES,
    ...INVITATIONS_PAGE_ROUTES,
    ...ASSET_ROUTES,
    ...MCP_ROUTES,
  ],
  device: [
    ...CERTIFICATE_ROUTES,
    ...CLAIM_ROUTES,
    ...DEVICE_SESSION_END_ROUTES,
    ...DEVICE_STREAM_ROUTES,
    ...CHUNK_ROUTES,
  ],
  operator: [
    ...OPERATOR_ROUTES,
    ...STAFF_CHUNK_ROUTES,
    ...STAFF_CLIENT_ROUTES,
    ...STAFF_GRANT_ROUTES,
    ...OVERVIEW_ROUTES,
    ...ENTITY_ROUTES,
    ...SEEN_DEVICE_ROUTES,
    ...SEEN_ENDPOINT_ROUTES,
    ...OPERATOR_PAGE_ROUTES,
    ...OPERATOR_ASSET_ROUTES,
    ...ASSET_ROUTES,
  ],
});
