import { useState } from 'preact/hooks';
import { api } from '../api/api.js';
import { useAction } from '../api/loading.js';
import { say } from '../language/say.js';
import { TextField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Page } from '../parts/page.js';
import { BASE } from '../router.js';
import { LiveSession } from './sessions/live_session.js';

const CODE_CHARS_MAX = 64;

/** One session; to whoever does not belong to it, the way in. */
export function Session({ params: { id = '' } }: { params: Record<string, string> }) {
  const [stranger, setStranger] = useState(false);
  return (
    <Page
      title={stranger ? say('Join a session') : say('Session')}
      back={{ href: `${BASE}/sessions`, name: say('Sessions') }}
    >
      {stranger ? (
        <Join id={id} joined={() => setStranger(false)} />
      ) : (
        <LiveSession id={id} unknown={() => setStranger(true)} />
      )}
    </Page>
  );
}

function Join({ id, joined }: { id: string; joined: () => void }) {
  const [code, setCode] = useState(() => location.hash.slice(1));
  const joining = useAction(async () => {
    await api('POST /device-sessions/{id}/join', { path: { id }, body: { join_code: code } });
    joined();
  });
  return (
    <div class="panel">
      <p>{say('You don’t belong to this session, or it has been deleted. You can take part with its join code.')}</p>
      <Form of={joining} submit={say('Join')} fields={['join_code']} onSubmit={() => void joining.run()}>
        <TextField
          label={say('Join code')}
          value={code}
          onValue={setCode}
          maxLength={CODE_CHARS_MAX}
          autoComplete="off"
          spellcheck={false}
          hint={say('Eight letters and digits. The host can see it.')}
          error={faultOf(joining.error, 'join_code')}
        />
      </Form>
    </div>
  );
}
