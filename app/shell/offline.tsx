import { signal } from '@preact/signals';
import { say } from '../language/say.js';

/** Whether the browser has a connection at all. That the server answers is another matter. */
export const is_offline = signal(!navigator.onLine);

export function watchConnection(): void {
  const look = () => {
    is_offline.value = !navigator.onLine;
  };
  addEventListener('online', look);
  addEventListener('offline', look);
}

/** Said above a page that was loaded before the connection was lost. */
export function OfflineNotice() {
  return (
    <div class="offline" role="status">
      {is_offline.value && <p class="notice caution">{say('You are offline. What you see may be out of date.')}</p>}
    </div>
  );
}
