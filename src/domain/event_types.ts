/** Event types of schema version 1. Rule E-003. */
export const EVENT_TYPES = [
  'account.created',
  'account.updated',
  'account.deleted',
  'account.restored',
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'source.created',
  'source.updated',
  'source.deleted',
  'turn.created',
  'turn.updated',
  'turn.deleted',
  'run.published',
  'memory.created',
  'memory.updated',
  'memory.deleted',
  'conversation.created',
  'conversation.updated',
  'conversation.deleted',
  'suggestion.created',
  'suggestion.updated',
  'suggestion.deleted',
  'suggestion_profile.updated',
  'memory_context.updated',
  'pipeline.created',
  'pipeline.updated',
  'device_session.started',
  'device_session.joined',
  'device_session.left',
  'device_session.updated',
  'device_session.ended',
  'stream.created',
  'stream.updated',
  'stream.deleted',
  'personal_access_token.created',
  'personal_access_token.revoked',
  'workspace.updated',
  'workspace.retention_applied',
  'workspace.deleted',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** A `type` filter may name a type that this version does not know yet, if it has the form of one. */
export const EVENT_TYPE_FORM = /^[a-z][a-z_]{0,63}\.[a-z][a-z_]{0,63}$/;

export const EVENT_SCHEMA_VERSION = 1;

/** Recorded, but delivered to no endpoint. Rules F-033 and F-035. */
const NEVER_DELIVERED: readonly EventType[] = ['account.created', 'account.deleted'];

/** Whether endpoints get such an event. The workspaces of a deleted account end without one. */
export function isDelivered(type: EventType, data: Record<string, unknown>): boolean {
  if (type === 'workspace.deleted' && data.reason === 'account_deleted') return false;
  return !NEVER_DELIVERED.includes(type);
}
