import type { Mail } from './mailer.js';

/** Invites somebody into a workspace. Names are what people chose, so they stand in quotes and never as an address. */
export function invitationMail(of: {
  to: string;
  workspace_name: string;
  invited_by: { email: string; name: string | null };
  role: string;
  invitations_url: string;
}): Mail {
  const { to, workspace_name, invited_by, role, invitations_url } = of;
  const who = invited_by.name === null ? invited_by.email : `${invited_by.name} (${invited_by.email})`;
  return {
    to,
    subject: 'You are invited to a workspace on Spool',
    text: [
      `${who} invites you to the workspace "${workspace_name}" on Spool, as ${role}.`,
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
