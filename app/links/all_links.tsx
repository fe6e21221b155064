import { api } from '../api/api.js';
import { useList } from '../api/loading.js';
import { say } from '../language/say.js';
import { Section } from '../parts/page.js';
import { EmptyState, List } from '../parts/placeholders.js';
import { LinkRow } from './link_row.js';

const LINKS_PER_PAGE = 50;

/** The links to recordings that have not ended. */
export function AllLinks() {
  const links = useList((cursor) => api('GET /me/links', { query: { limit: LINKS_PER_PAGE, cursor } }), []);
  return (
    <Section title={say('Links to recordings')}>
      <List of={links} label={say('Links to recordings')} empty={<NoLinks />}>
        {(link) => <LinkRow key={link.id} link={link} changed={links.reload} names_recording />}
      </List>
    </Section>
  );
}

function NoLinks() {
  return (
    <EmptyState title={say('No links')}>
      <p>{say('Share a recording by link from its page. Every link that can be opened is listed here.')}</p>
    </EmptyState>
  );
}
