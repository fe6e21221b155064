/** The pages of what one sets up, and of recording, one script: few open one of them in a visit. */

export { AccountPage } from './account.js';
export { Connections } from './connections.js';
export { DeliveryPage } from './delivery.js';
export { Devices } from './devices.js';
export { ExportPage } from './export.js';
export { NewSession } from './new_session.js';
export { Record } from './record.js';
export { RetentionPage } from './retention.js';
export { Session } from './session.js';
export { SessionSummary } from './session_summary.js';
export { Sessions } from './sessions.js';
export { TokensPage } from './tokens.js';
export { Webhook } from './webhook.js';
export { Webhooks } from './webhooks.js';
export { WorkspacePage } from './workspace.js';
export { Workspaces } from './workspaces.js';
