import type { Permission } from '../../domain/permissions.js';
import { OFFLINE_ACCESS, TRANSCRIBES } from '../../domain/scopes.js';

/** One thing that a scope lets an app do. `grave` is what the person may regret most. */
export type Ability = { does: 'read' | 'change'; words: string; grave?: true };

const read = (words: string): Ability => ({ does: 'read', words });
const change = (words: string): Ability => ({ does: 'change', words });
const grave = (words: string): Ability => ({ does: 'change', words, grave: true });

/** The abilities that scopes give, in words for people. docs/rules.md, "OAuth: scopes". */
const CURRENT = {
  'audio:read': [read('Your recordings, and which devices and apps they come from')],
  'audio:write': [change('Add recordings and places that recordings come from')],
  'turns:read': [read('Transcripts of what was said and by whom, your contacts, and what happened in your account')],
  'turns:write': [
    change('Correct what was said and who said it; add and rename contacts'),
    grave('Delete contacts and parts of transcripts'),
  ],
  'insights:read': [read('Suggestions made for you, and summaries of your sessions')],
  'insights:write': [change('Edit, group and rate the suggestions made for you')],
  'account:manage': [
    read('Your account, and which apps are connected to it'),
    change('Rename your account, disconnect apps and sign you out everywhere'),
    grave('Delete your account, or restore it'),
  ],
  'files:read': [read('Your private files')],
  'files:write': [grave('Add, change and delete your private files')],
  'devices:manage': [
    read('Which recording devices you have'),
    change('Add and remove recording devices'),
    grave('Start, join, extend and end recordings on your devices'),
  ],
  'endpoints:manage': [change('Choose which addresses on the internet are told what happens in your account')],
  'profile:read': [read('What you have told about yourself')],
  'profile:write': [change('Change what you have told about yourself')],
  'pipelines:read': [read('How your recordings are processed')],
  'pipelines:write': [change('Set up how your recordings are processed, also in ways that are still being tried out')],
  'pipelines:experimental': [change('Use and set up ways of processing that are still being tried out')],
  'debug:read': [read('Diagnostics for developers, with your conversations and memories')],
  'debug:write': [change('Run and change diagnostics for developers')],
  'workspace:read': [
    read('Your workspaces, their members, and your invitations'),
    change('Answer your invitations, and leave shared workspaces'),
  ],
  'workspace:members': [change('Invite and remove members of your workspaces, and change their roles')],
  'workspace:manage': [
    change('Create and rename workspaces'),
    grave('Delete workspaces that you own, or hand them over to others'),
  ],
} satisfies Record<Permission, readonly Ability[]>;

/** Every scope that a consent page may have to explain, by its current or earlier name. */
export const SCOPE_TEXTS: Readonly<Record<string, readonly Ability[]>> = {
  ...CURRENT,
  'suggestions:read': CURRENT['insights:read'],
  'suggestions:write': CURRENT['insights:write'],
  'contacts:read': CURRENT['turns:read'],
  'contacts:write': CURRENT['turns:write'],
  'events:read': CURRENT['turns:read'],
  'recall:read': [read('What a search through transcripts and suggestions finds')],
  [TRANSCRIBES]: [change('Have audio transcribed that is not kept')],
  'sources:write': [...CURRENT['audio:write'], ...CURRENT['devices:manage']],
};

/**
 * The abilities that scopes together give an app, each once. A name without words stands for itself: nothing goes
 * unsaid.
 */
export function abilitiesOf(scopes: readonly string[]): Record<Ability['does'], Ability[]> {
  const abilities = [...new Set(scopes.flatMap((scope) => wordsOf(scope)))];
  return {
    read: abilities.filter(({ does }) => does === 'read'),
    change: abilities.filter(({ does }) => does === 'change'),
  };
}

function wordsOf(scope: string): readonly Ability[] {
  if (scope === OFFLINE_ACCESS) return [];
  return Object.hasOwn(SCOPE_TEXTS, scope) ? (SCOPE_TEXTS[scope] ?? []) : [change(scope)];
}
