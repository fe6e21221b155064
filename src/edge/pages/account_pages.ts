import type { AccountPage } from '../../../actors/oauth/browser_sign_in.js';
import type { PlainText } from '../../domain/language/texts.js';

/** Our own pages for people who have, or begin, an account. */
export const ACCOUNT_PAGES: Record<
  AccountPage,
  {
    path: string;
    /** The page to which a sign-in there continues, in words that stand behind "to continue to" and "back to". */
    leads_to: PlainText;
  }
> = {
  restore: { path: '/restore', leads_to: 'restoring your account' },
  invitations: { path: '/invitations', leads_to: 'your invitations' },
};

/** Where the pages of a sign-in lie, by what it leads to: an address says for which of our pages it is. */
export const SIGN_IN_PATHS: Record<'client' | AccountPage, string> = {
  client: '/oauth/sign-in',
  restore: `${ACCOUNT_PAGES.restore.path}/sign-in`,
  invitations: `${ACCOUNT_PAGES.invitations.path}/sign-in`,
};

export function signInPath(goal: { to: 'client' } | { to: 'page'; page: AccountPage }, id: string): string {
  return `${SIGN_IN_PATHS[goal.to === 'client' ? 'client' : goal.page]}/${id}`;
}

/** The page that an address belongs to: its own, or one of its sign-in's. */
export function accountPageAt(url: string): AccountPage | null {
  const [path = ''] = url.split('?', 1);
  const found = Object.entries(ACCOUNT_PAGES).find(([, own]) => path === own.path || path.startsWith(`${own.path}/`));
  return found === undefined ? null : (found[0] as AccountPage);
}
