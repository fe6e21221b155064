import type { Mail } from '../../engine/mail/mailer.js';
import { quotedName } from './quoted_name.js';

/** Invites a person into a workspace. A name that could be a link or an address is left out. */
export function invitationMail(of: {
  to: string;
  workspace_name: string;
  invited_by: { email: string; name: string | null };
  role: string;
  invitations_url: string;
}): Mail {
  const { to, workspace_name, invited_by, role, invitations_url } = of;
  const own_name = quotedName(invited_by.name ?? '');
  const who = own_name === null ? invited_by.email : `${own_name} (${invited_by.email})`;
  const name = quotedName(workspace_name);
  const workspace = name === null ? 'a shared workspace' : `the workspace ${name}`;
  return {
    to,
    subject: 'You are invited to a workspace on Spool',
    text: [
      `${who} invites you to ${workspace} on Spool, as ${role}.`,
      '',
      'See the invitation, and accept or decline it, here:',
      '',
      invitations_url,
      '',
      `It is for ${to}: sign in with that address. If you do not know who this is from, ignore this mail.`,
      '',
    ].join('\n'),
  };
}
