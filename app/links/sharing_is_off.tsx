import { say } from '../language/say.js';
import { Secret } from '../parts/secret.js';
import { account } from '../shell/account.js';

/** Says that the account may not share, and how that is switched on. */
export function SharingIsOff() {
  const command = `npm run spool -- accounts enable ${account.value?.email ?? ''} workspace.sharing`;
  return (
    <>
      <p>
        {say(
          'Sharing is off for your account: you can’t make workspaces, accept invitations or share by link. The operator of this server can switch it on, on your account’s page or with this command:',
        )}
      </p>
      <div class="field">
        <Secret text={command} what={say('The command')} />
      </div>
    </>
  );
}
