import { ApiError } from '../../api/api_error.js';
import { Section } from '../../parts/page.js';
import { ask, type ItemOf, orNotFound } from '../api.js';
import { ago } from '../format.js';
import { Nothing } from '../parts/table.js';
import { ViewPage } from '../parts/view_page.js';
import { usePolling } from '../polling.js';

const LIMIT = 50;

/** Mails that were not sent, for development. */
export function Inbox() {
  const { data } = usePolling(() => orNotFound(ask('GET /inbox', { query: { limit: LIMIT } })));
  return (
    <ViewPage title="Inbox">
      {data !== null && (
        <Section id="mails" title="Mails" lead="SMTP_URL is not set, so each mail is a file in DATA_DIR/outbox.">
          {data instanceof ApiError ? <Nothing>{data.message}</Nothing> : <Mails items={data.items} />}
        </Section>
      )}
    </ViewPage>
  );
}

function Mails({ items }: { items: readonly ItemOf<'GET /inbox'>[] }) {
  if (items.length === 0) return <Nothing>No mail was written yet.</Nothing>;
  return (
    <>
      {items.map(({ file, to, subject, text, date }) => (
        <details key={file} class="panel folded">
          <summary>
            <span class="to">{to}</span>
            <span>{subject}</span>
            <span class="when">{ago(date)}</span>
          </summary>
          <pre>{text}</pre>
        </details>
      ))}
    </>
  );
}
