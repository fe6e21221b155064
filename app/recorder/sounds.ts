import { signal } from '@preact/signals';

/** The sound that this browser records: a microphone’s, that of a tab or the computer, or both. */

export type Sound = 'microphone' | 'shared' | 'both';

const KEY = 'spool-microphone';

/** Until the page is loaded anew: nobody shares a tab by mistake. */
export const sound = signal<Sound>('microphone');
/** The microphones that the browser tells of; it names them once it was allowed one. */
export const microphones = signal<readonly (readonly [id: string, name: string])[]>([]);
/** Empty for the one that the system chooses. */
export const microphone_id = signal(kept());

/** Phones, and some browsers, share no sound. */
export function canShareSound(): boolean {
  return typeof (navigator.mediaDevices as MediaDevices | undefined)?.getDisplayMedia === 'function';
}

export function chooseMicrophone(id: string): void {
  microphone_id.value = id;
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // Storage is off.
  }
}

export async function findMicrophones(): Promise<void> {
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  const found = (await devices?.enumerateDevices().catch(() => [])) ?? [];
  microphones.value = found
    .filter(({ kind, deviceId, label }) => kind === 'audioinput' && label !== '' && deviceId !== 'default')
    .map(({ deviceId, label }) => [deviceId, label] as const);
}

function kept(): string {
  try {
    return localStorage.getItem(KEY) ?? '';
  } catch {
    return '';
  }
}
