import { AUTH_ROUTES } from './api/app_sessions.js';
import { CONNECTION_ROUTES } from './api/connections.js';
import { CONTACT_ROUTES } from './api/contacts.js';
import { CONVERSATION_ROUTES } from './api/conversations.js';
import { DAY_ROUTES } from './api/days.js';
import { DEBUG_ROUTES } from './api/debug.js';
import { DEVICE_SESSION_ROUTES } from './api/device_sessions.js';
import { DEVICE_MANAGEMENT_ROUTES } from './api/devices.js';
import { DUE_ROUTES } from './api/due.js';
import { ENDPOINT_ROUTES } from './api/endpoints.js';
import { EVENT_ROUTES } from './api/events.js';
import { EXPORT_ROUTES } from './api/exports.js';
import { FILE_ROUTES } from './api/files.js';
import { IMPORT_ROUTES } from './api/imports.js';
import { INVITATION_ROUTES } from './api/invitations.js';
import { LIVE_ROUTES } from './api/live.js';
import { ME_ROUTES } from './api/me.js';
import { MEMORY_ROUTES } from './api/memories.js';
import { OMI_ROUTES } from './api/omi.js';
import { PERSONAL_ACCESS_TOKEN_ROUTES } from './api/personal_access_tokens.js';
import { PIPELINE_ROUTES } from './api/pipelines.js';
import { PROFILE_ROUTES } from './api/profile.js';
import { SEARCH_ROUTES } from './api/search.js';
import { SESSION_SUMMARY_ROUTES } from './api/session_summary.js';
import { SHARE_LINK_ROUTES } from './api/share_links.js';
import { SIGNAL_ROUTES } from './api/signals.js';
import { SOURCE_ROUTES } from './api/sources.js';
import { STREAM_SUMMARY_ROUTES } from './api/stream_summary.js';
import { STREAM_ROUTES } from './api/streams.js';
import { SUGGESTION_ROUTES } from './api/suggestions.js';
import { TRANSCRIPTION_ROUTES } from './api/transcriptions.js';
import { TRANSCRIPT_ROUTES } from './api/transcripts.js';
import { TURN_ROUTES } from './api/turns.js';
import { WORKSPACE_ROUTES } from './api/workspaces.js';
import { CERTIFICATE_ROUTES } from './device/certificates.js';
import { CHUNK_ROUTES } from './device/chunks.js';
import { CLAIM_ROUTES } from './device/claims.js';
import { DEVICE_SESSION_END_ROUTES } from './device/session.js';
import { DEVICE_STREAM_ROUTES } from './device/streams.js';
import { MCP_ROUTES } from './mcp/messages.js';
import { MCP_LATER_SCOPES, MCP_SCOPES } from './mcp/tools.js';
import { AUTHORIZE_ROUTES } from './oauth/authorize.js';
import { CHALLENGE_ROUTES } from './oauth/challenge.js';
import { END_SESSION_ROUTES } from './oauth/end_session.js';
import { INTROSPECT_ROUTES } from './oauth/introspect.js';
import { metadataRoutes } from './oauth/metadata.js';
import { registrationRoutes } from './oauth/register.js';
import { SIGN_IN_ROUTES } from './oauth/sign_in.js';
import { TOKEN_ROUTES } from './oauth/token.js';
import { STAFF_ACCOUNT_ROUTES } from './operator/accounts.js';
import { ACTOR_ROUTES } from './operator/actors.js';
import { STAFF_CERTIFICATE_ROUTES } from './operator/certificates.js';
import { STAFF_CHUNK_ROUTES } from './operator/chunks.js';
import { STAFF_CLIENT_ROUTES } from './operator/clients.js';
import { STAFF_CONTENT_ROUTES } from './operator/content.js';
import { SEEN_DEVICE_ROUTES } from './operator/devices.js';
import { DIRECTORY_ROUTES } from './operator/directory.js';
import { SEEN_ENDPOINT_ROUTES } from './operator/endpoints.js';
import { ENTITY_ROUTES } from './operator/entities.js';
import { STAFF_EXPORT_ROUTES } from './operator/exports.js';
import { STAFF_GRANT_ROUTES } from './operator/grants.js';
import { HEALTH_ROUTES } from './operator/health.js';
import { STAFF_IMPORT_ROUTES } from './operator/imports.js';
import { STAFF_JOB_ROUTES } from './operator/jobs.js';
import { KEY_ROUTES } from './operator/keys.js';
import { MAIL_ROUTES } from './operator/mails.js';
import { OVERVIEW_ROUTES } from './operator/overview.js';
import { OPERATOR_PAGE_ROUTES } from './operator/pages.js';
import { REMOVAL_ROUTES } from './operator/removals.js';
import { STAFF_STREAM_ROUTES } from './operator/streams.js';
import { TEST_CLOCK_ROUTES } from './operator/test_clock.js';
import { APP_ROUTES } from './pages/app.js';
import { APP_FILE_ROUTES, OPERATOR_FILE_ROUTES } from './pages/app_files.js';
import { ASSET_ROUTES } from './pages/assets.js';
import { CALENDAR_PAGE_ROUTES } from './pages/calendar.js';
import { INVITATIONS_PAGE_ROUTES } from './pages/invitations.js';
import { withReference } from './pages/reference.js';
import { RESTORE_PAGE_ROUTES } from './pages/restore.js';
import { SHARED_PAGE_ROUTES } from './pages/shared.js';
import { START_PAGE_ROUTES } from './pages/start.js';
import { UNSUBSCRIBE_PAGE_ROUTES } from './pages/unsubscribe.js';
import type { Route } from './rows.js';

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
    ...SHARE_LINK_ROUTES,
    ...DUE_ROUTES,
    ...IMPORT_ROUTES,
    ...OMI_ROUTES,
    ...SIGNAL_ROUTES,
    ...TURN_ROUTES,
    ...TRANSCRIPT_ROUTES,
    ...TRANSCRIPTION_ROUTES,
    ...LIVE_ROUTES,
    ...CONTACT_ROUTES,
    ...CONVERSATION_ROUTES,
    ...MEMORY_ROUTES,
    ...SUGGESTION_ROUTES,
    ...SESSION_SUMMARY_ROUTES,
    ...DAY_ROUTES,
    ...STREAM_SUMMARY_ROUTES,
    ...SEARCH_ROUTES,
    ...PROFILE_ROUTES,
    ...PIPELINE_ROUTES,
    ...FILE_ROUTES,
    ...EXPORT_ROUTES,
    ...DEBUG_ROUTES,
    ...metadataRoutes(MCP_SCOPES),
    ...registrationRoutes({ first: MCP_SCOPES, later: MCP_LATER_SCOPES }),
    ...AUTHORIZE_ROUTES,
    ...SIGN_IN_ROUTES,
    ...TOKEN_ROUTES,
    ...INTROSPECT_ROUTES,
    ...END_SESSION_ROUTES,
    ...CHALLENGE_ROUTES,
    ...RESTORE_PAGE_ROUTES,
    ...SHARED_PAGE_ROUTES,
    ...CALENDAR_PAGE_ROUTES,
    ...UNSUBSCRIBE_PAGE_ROUTES,
    ...INVITATIONS_PAGE_ROUTES,
    ...START_PAGE_ROUTES,
    ...APP_ROUTES,
    ...APP_FILE_ROUTES,
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
    ...HEALTH_ROUTES,
    ...ACTOR_ROUTES,
    ...STAFF_ACCOUNT_ROUTES,
    ...STAFF_EXPORT_ROUTES,
    ...STAFF_IMPORT_ROUTES,
    ...STAFF_CERTIFICATE_ROUTES,
    ...KEY_ROUTES,
    ...REMOVAL_ROUTES,
    ...TEST_CLOCK_ROUTES,
    ...MAIL_ROUTES,
    ...STAFF_CHUNK_ROUTES,
    ...STAFF_JOB_ROUTES,
    ...STAFF_STREAM_ROUTES,
    ...STAFF_CONTENT_ROUTES,
    ...STAFF_CLIENT_ROUTES,
    ...STAFF_GRANT_ROUTES,
    ...OVERVIEW_ROUTES,
    ...ENTITY_ROUTES,
    ...SEEN_DEVICE_ROUTES,
    ...DIRECTORY_ROUTES,
    ...SEEN_ENDPOINT_ROUTES,
    ...OPERATOR_PAGE_ROUTES,
    ...OPERATOR_FILE_ROUTES,
    ...ASSET_ROUTES,
  ],
});
