import { type PlainText, say } from '../language/say.js';
import { BASE, place } from '../router.js';

type TabRow = readonly [path: string, words: PlainText];

const SHARING: readonly TabRow[] = [
  ['/workspaces', 'Workspaces'],
  ['/sessions', 'Sessions'],
];
const SETTINGS: readonly TabRow[] = [
  ['/account', 'Account'],
  ['/retention', 'Retention'],
  ['/connections', 'Connections'],
  ['/tokens', 'Tokens'],
  ['/webhooks', 'Webhooks'],
  ['/export', 'Export'],
];

/** The pages that stand under one name in the navigation. */
export function SharingTabs() {
  return <PageTabs label={say('Sharing')} rows={SHARING} />;
}

export function SettingsTabs() {
  return <PageTabs label={say('Settings')} rows={SETTINGS} />;
}

function PageTabs({ label, rows }: { label: string; rows: readonly TabRow[] }) {
  const { path } = place.value;
  return (
    <nav class="tabs" aria-label={label}>
      {rows.map(([to, words]) => (
        <a key={to} class="tab" href={BASE + to} aria-current={path === to ? 'true' : undefined}>
          {say(words)}
        </a>
      ))}
    </nav>
  );
}
