import { api } from '../../api/api.js';
import { useAction } from '../../api/loading.js';
import { say } from '../../language/say.js';
import { Dialog } from '../../parts/dialog.js';
import { useDraft } from '../../parts/drafts.js';
import { TextField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import type { NamedDevice } from './named_devices.js';

const NAME_CHARS_MAX = 80;

type NameDeviceProps = { onClose: () => void; named: () => void };

/** The dialog that names a recorder; with null it is closed. */
export function NameDevice({ device, ...props }: NameDeviceProps & { device: NamedDevice | null }) {
  return (
    <Dialog open={device !== null} {...dialogOf(device)} onClose={props.onClose}>
      {device !== null && <NameForm device={device} {...props} />}
    </Dialog>
  );
}

export function dialogOf(device: NamedDevice | null): { title: string; about: string } {
  return { title: say('Rename the device'), about: device?.id ?? '' };
}

function NameForm({ device: { source_id, name: present }, onClose, named }: NameDeviceProps & { device: NamedDevice }) {
  const [name, setName] = useDraft('name', present ?? '');
  const naming = useAction(async (id: string) => {
    const text = name.trim();
    await api('PATCH /sources/{id}', { path: { id }, body: { name: text === '' ? null : text } });
    onClose();
    named();
  });
  return (
    <Form
      of={naming}
      submit={say('Save')}
      fields={['name']}
      onSubmit={() => source_id !== null && void naming.run(source_id)}
      onCancel={onClose}
    >
      <TextField
        label={say('Name')}
        value={name}
        onValue={setName}
        maxLength={NAME_CHARS_MAX}
        hint={say('Shown with its recordings. Leave empty for no name.')}
        error={faultOf(naming.error, 'name')}
      />
    </Form>
  );
}
