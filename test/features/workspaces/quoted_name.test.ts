import t from 'tap';
import { textsIn } from '../../../src/domain/language/texts.js';
import { invitationMail } from '../../../src/features/workspaces/invitation_mail.js';
import { quotedName } from '../../../src/features/workspaces/quoted_name.js';

t.test('a name in which a mail program would see a link or an address is left out', async (t) => {
  const links = [
    'https://evil.example/win',
    'HTTP ://x',
    'click www.evil',
    'ＷＷＷ．evil．com',
    'evil.com',
    'Evil。com',
    'e\u00advil.co\u200bm',
    'go to evil.example/x now',
    'ann@evil.example',
    'me @ home',
    'a＠b',
    'xn--80ak6aa92e.com',
    'host.xn--p1ai',
    '10.0.0.1/x',
    'javascript:alert(1)',
    'mailto:x',
    '//evil/x',
    '',
    ' \u202e\u0000 ',
  ];
  for (const name of links) t.equal(quotedName(name), null, name);
});

t.test('other names stand in quotation marks, on one line, shortened', async (t) => {
  const rows: [name: string, shown: string][] = [
    ['Choir', '"Choir"'],
    ['Dr. Smith & Sons: 2.0', '"Dr. Smith & Sons: 2.0"'],
    ['9 a.m. team', '"9 a.m. team"'],
    ['say "yes" “now”', `"say 'yes' 'now'"`],
    ['one\r\n\u2028two\u202e three', '"one two three"'],
    ['Cho\u200bir of\u2028the \u200etown', '"Choir of the town"'],
    ['می\u200cخواهم', '"می\u200cخواهم"'],
    ['😀'.repeat(200), `"${'😀'.repeat(80)}"`],
  ];
  for (const [name, shown] of rows) t.equal(quotedName(name), shown);
});

t.test('an invitation names who sends it and where it leads, and no name that could be a link', async (t) => {
  const about = { to: 'bob@x.test', role: 'member' as const, invitations_url: 'https://spool.test/invitations' };
  const firstLine = (workspace_name: string, name: string | null) =>
    invitationMail({ ...about, workspace_name, invited_by: { email: 'ann@x.test', name } }, textsIn('en')).text.split(
      '\n',
    )[0];
  t.equal(firstLine('Choir', 'Ann'), '"Ann" (ann@x.test) invites you to the workspace "Choir" on Spool, as member.');
  t.equal(firstLine('Choir', null), 'ann@x.test invites you to the workspace "Choir" on Spool, as member.');
  t.equal(
    firstLine('You won! evil.com', 'http://evil.com'),
    'ann@x.test invites you to a shared workspace on Spool, as member.',
  );
});
