import { useEffect, useState } from 'preact/hooks';
import type { Endpoint, EventType } from '../../../kits/typescript/src/api.js';
import { type Answer, api } from '../../api/api.js';
import { ApiError } from '../../api/api_error.js';
import { useAction } from '../../api/loading.js';
import { say } from '../../language/say.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { useDraft, useForgetDrafts } from '../../parts/drafts.js';
import { SelectField, TextField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import { Secret } from '../../parts/secret.js';
import { BASE } from '../../router.js';
import { Topics } from './topics.js';

type NewEndpointAnswer = Answer<'POST /endpoints'>;

/** Makes an endpoint, of its own or in place of `like`. The signing secret lives in this dialog alone. */
export function NewEndpoint(props: { open: boolean; like?: Endpoint; onClose: () => void; changed?: () => void }) {
  const { open, like, onClose } = props;
  return (
    <Dialog open={open} title={like === undefined ? say('New endpoint') : say('Replace endpoint')} onClose={onClose}>
      {open && <Making {...props} />}
    </Dialog>
  );
}

function Making({ like, onClose, changed }: { like?: Endpoint; onClose: () => void; changed?: () => void }) {
  const [made, setMade] = useState<NewEndpointAnswer | null>(null);
  const [url, setUrl] = useDraft('url', like?.url ?? '');
  const [which, setWhich] = useDraft<string>('which', (like?.topics.length ?? 0) > 0 ? 'some' : 'all');
  const [topics, setTopics] = useDraft<EventType[]>('topics', like?.topics ?? []);
  const forget = useForgetDrafts();
  const making = useAction(async () => {
    if (which === 'some' && topics.length === 0) {
      throw new ApiError('BAD_REQUEST', say('Choose a type.'), new Map([['topics', say('Choose at least one type.')]]));
    }
    setMade(await api('POST /endpoints', { body: { url: url.trim(), topics: which === 'all' ? [] : topics } }));
    forget();
    changed?.();
  });
  // Whether it was made can't be told when no answer came: the list does.
  useEffect(() => {
    if (making.error?.code === 'NETWORK') changed?.();
  }, [making.error]);
  if (made !== null) return <Shown made={made} replaces={like !== undefined} onClose={onClose} />;
  return (
    <Form
      of={making}
      submit={say('Create')}
      fields={['url', 'topics']}
      onSubmit={() => void making.run()}
      onCancel={onClose}
    >
      <TextField
        type="url"
        label={say('Address')}
        value={url}
        onValue={setUrl}
        placeholder="https://app.example/hooks"
        autoComplete="off"
        spellcheck={false}
        hint={say('Where your program listens. It begins with https://')}
        error={faultOf(making.error, 'url')}
      />
      <SelectField
        label={say('Event types')}
        value={which}
        onValue={setWhich}
        options={[
          ['all', say('Everything that happens')],
          ['some', say('Some types of events')],
        ]}
        hint={which === 'all' ? say('Also types that are added later.') : undefined}
      />
      {which === 'some' && <Topics chosen={topics} onChosen={setTopics} error={faultOf(making.error, 'topics')} />}
    </Form>
  );
}

function Shown({ made, replaces, onClose }: { made: NewEndpointAnswer; replaces: boolean; onClose: () => void }) {
  return (
    <>
      <p role="status">
        {say('The endpoint has been created. Your program needs its signing secret to check what it gets:')}
      </p>
      <div class="field">
        <Secret text={made.signing_secret} what={say('The signing secret')} once />
      </div>
      {replaces && (
        <p class="hint">{say('Once your program uses it, delete the old endpoint: until then both get everything.')}</p>
      )}
      <div class="dialog-actions">
        <Button onClick={onClose}>{say('Done|button')}</Button>
        <ButtonLink kind="primary" href={`${BASE}/webhooks/${made.endpoint.id}`}>
          {say('Open endpoint')}
        </ButtonLink>
      </div>
    </>
  );
}
