import { ENTITLEMENTS } from '../src/domain/permissions.js';
import type { PathParameter } from '../src/edge/http/route.js';

/** Parameters of paths: each row names the one that stands at each of its places. */
export const PARAMETERS = {
  account_or_email: text('Id or email address of an account.'),
  calendar: text('The last part of a calendar address.'),
  certificate: text('SHA-256 of the certificate, in hexadecimal.'),
  chunk: id('The chunk, as the answer to its announcement calls it.'),
  client: text('A client_id.'),
  connection: id('The connection: an app that the account has let in.'),
  contact: id('The contact.'),
  conversation: id('The conversation.'),
  day: { description: 'A day, such as 2026-12-07.', form: 'date' },
  delivery: id('The delivery: the webhook-id of its requests.'),
  device: id('The device.'),
  endpoint: id('The endpoint.'),
  entitlement: { description: 'Name of the entitlement.', form: ENTITLEMENTS },
  export: id('The export.'),
  file: id('The file.'),
  grant: id('The grant of an app.'),
  import: id('The import.'),
  invitation: id('The invitation.'),
  job: text('The job, as its claim calls it.'),
  member: id('The account whose membership it is.'),
  memory: id('The memory.'),
  omi: text('The last part of an address for omi.'),
  pipeline: id('The pipeline.'),
  profile_item: id('The item of the profile.'),
  recorder_session: id('The recorder session.'),
  share_link: id('The link.'),
  shared: text('The last part of the address that a link leads to.'),
  sign_in: id('The sign-in.'),
  source: id('The source.'),
  source_stream_ref: { description: "The device's own name for the stream.", form: 'uuid' },
  speaker: text('A speaker of the stream, such as S1.'),
  stream: id('The stream.'),
  suggestion: id('The suggestion.'),
  token: id('The personal access token.'),
  turn: id('The turn.'),
  unsubscribe: text('The last part of an address that ends mails.'),
  workspace: id('The workspace.'),
} as const satisfies Record<string, PathParameter>;

function id(description: string): PathParameter {
  return { description, form: 'id' };
}

function text(description: string): PathParameter {
  return { description, form: 'text' };
}
