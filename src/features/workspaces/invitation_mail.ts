import type { Texts } from '../../domain/language/texts.js';
import type { GivenRole } from '../../domain/workspaces.js';
import type { Mail } from '../../engine/mail/mailer.js';
import { quotedName } from './quoted_name.js';

/** Invites a person into a workspace. A name that could be a link or an address is left out. */
export function invitationMail(
  of: {
    to: string;
    workspace_name: string;
    invited_by: { email: string; name: string | null };
    role: GivenRole;
    invitations_url: string;
  },
  texts: Texts,
): Mail {
  const { to, workspace_name, invited_by, role, invitations_url } = of;
  const own_name = quotedName(invited_by.name ?? '');
  const who = own_name === null ? invited_by.email : `${own_name} (${invited_by.email})`;
  const name = quotedName(workspace_name);
  return {
    to,
    subject: texts.say('You are invited to a workspace on Spool'),
    text: [
      invitingText({ who, name, role }, texts),
      '',
      texts.say('See the invitation, and accept or decline it, here:'),
      '',
      invitations_url,
      '',
      texts.say(
        'It is for {email}: sign in with that address. If you do not know who this is from, ignore this mail.',
        { email: to },
      ),
      '',
    ].join('\n'),
  };
}

function invitingText(
  { who, name, role }: { who: string; name: string | null; role: GivenRole },
  texts: Texts,
): string {
  if (name === null)
    return role === 'admin'
      ? texts.say('{who} invites you to a shared workspace on Spool, as admin.', { who })
      : texts.say('{who} invites you to a shared workspace on Spool, as member.', { who });
  return role === 'admin'
    ? texts.say('{who} invites you to the workspace {name} on Spool, as admin.', { who, name })
    : texts.say('{who} invites you to the workspace {name} on Spool, as member.', { who, name });
}
