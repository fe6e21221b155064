import type { AccountPage } from '../../../actors/oauth/browser_sign_in.js';

/** Our own pages for people who have, or begin, an account. */
export const ACCOUNT_PAGES: Record<
  AccountPage,
  {
    path: string;
    /** What a sign-in there continues to, in words that stand behind "to continue to" and "back to". */
    leads_to: string;
    /** Whether an address that no account is behind gets one by signing in here. */
    makes_accounts: boolean;
  }
> = {
  restore: { path: '/restore', leads_to: 'restoring your account', makes_accounts: false },
  invitations: { path: '/invitations', leads_to: 'your invitations', makes_accounts: true },
};

/** The page that an address belongs to: its own, or one of its sign-in's. */
export function accountPageAt(url: string): AccountPage | null {
  const [path = ''] = url.split('?', 1);
  const found = Object.entries(ACCOUNT_PAGES).find(([, own]) => path === own.path || path.startsWith(`${own.path}/`));
  return found === undefined ? null : (found[0] as AccountPage);
}
