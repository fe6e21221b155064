import type { Contact } from '../../kits/typescript/src/api.js';
import { api } from '../api/api.js';
import { useAction, useLoaded } from '../api/loading.js';
import { say, sayWith } from '../language/say.js';
import { useDraft } from '../parts/drafts.js';
import { SelectField } from '../parts/field.js';
import { Form, faultOf } from '../parts/form.js';
import { Show } from '../parts/placeholders.js';
import { showToast } from '../parts/toast_queue.js';
import { BASE, go } from '../router.js';
import { contactName } from './contact_names.js';
import { loadContacts } from './people.js';

export const MERGE_TITLE = 'Merge with another person' as const;

/** Makes a person a part of another one, and goes there. */
export function MergeForm({ contact, onClose }: { contact: Contact; onClose: () => void }) {
  const [into, setInto] = useDraft('into', '');
  const people = useLoaded(() => loadContacts(), []);
  const others = (people.data?.items ?? []).filter(({ id }) => id !== contact.id);
  const name = contact.name ?? say('this person');
  const chosen = others.find(({ id }) => id === into);
  const merge = useAction(async () => {
    await api('POST /contacts/{id}/merge', { path: { id: contact.id }, body: { into } });
    showToast(say('{name} is merged.', { name: contactName(contact) }));
    onClose();
    go(`${BASE}/people/${into}`, { replace: true });
  });
  return (
    <Show of={people}>
      {({ is_cut }) =>
        others.length === 0 ? (
          <p>{say('There is nobody else to merge with.')}</p>
        ) : (
          <Form
            of={merge}
            submit={say('Merge')}
            grave
            disabled={chosen === undefined}
            fields={['into']}
            onSubmit={() => void merge.run()}
            onCancel={onClose}
          >
            <SelectField
              label={say('Who is the same person')}
              value={into}
              onValue={setInto}
              options={[['', say('Choose a person')], ...others.map((one) => [one.id, contactName(one)] as const)]}
              error={faultOf(merge.error, 'into')}
              hint={is_cut ? say('Only the newest 1,000 people are listed.') : undefined}
            />
            <div class="notice caution">
              <p>
                {chosen === undefined
                  ? sayWith('All that {name} said will show the person whom you choose.', { name: <bdi>{name}</bdi> })
                  : sayWith('All that {name} said will show the name {other}, and {name} will no longer be listed.', {
                      name: <bdi>{name}</bdi>,
                      other: <bdi>{contactName(chosen)}</bdi>,
                    })}{' '}
                {say('Tasks and the voice go along. This can’t be undone.')}
              </p>
            </div>
          </Form>
        )
      }
    </Show>
  );
}
