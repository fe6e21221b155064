import { useState } from 'preact/hooks';
import { say } from '../../language/say.js';
import { CheckField } from '../../parts/field.js';
import { canNotify, notifies, notifyOfDue } from '../../shell/due_notifications.js';

/** Whether this browser tells of tasks as they fall due. */
export function DueNotificationsSetting() {
  const [is_blocked, setBlocked] = useState(canNotify() && Notification.permission === 'denied');
  if (!canNotify()) return null;
  const change = async (wanted: boolean) => setBlocked(!(await notifyOfDue(wanted)));
  return (
    <div class="panel">
      <CheckField
        label={say('Notify me in this browser')}
        hint={say('When a task falls due while a page of Spool is open.')}
        checked={notifies.value}
        onValue={(wanted) => void change(wanted)}
      />
      {is_blocked && (
        <p class="notice caution" role="alert">
          {say('The browser blocks notifications of this page. Allow them in its settings, then switch this on.')}
        </p>
      )}
    </div>
  );
}
