import { account } from '../shell/account.js';
import { workspaceName } from '../shell/workspace_name.js';

/** The workspace that recordings of this browser belong to: the one that was chosen last. */

const KEY = 'spool-workspace';

/** The workspaces that may be chosen; empty where there is no choice. */
export function workspaceChoices(): readonly (readonly [id: string, name: string])[] {
  const { workspaces = [], sharing_enabled = false } = account.value ?? {};
  return sharing_enabled && workspaces.length > 1 ? workspaces.map((one) => [one.id, workspaceName(one)] as const) : [];
}

/** Undefined for the private one. */
export function chosenWorkspace(): string | undefined {
  try {
    const kept = localStorage.getItem(KEY);
    return workspaceChoices().find(([id]) => id === kept)?.[0];
  } catch {
    return undefined; // storage is off
  }
}

export function chooseWorkspace(id: string): void {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // Storage is off.
  }
}
