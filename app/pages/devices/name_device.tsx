import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/api.js';
import { useAction } from '../../api/loading.js';
import { Dialog } from '../../parts/dialog.js';
import { TextField } from '../../parts/field.js';
import { Form, faultOf } from '../../parts/form.js';
import type { NamedDevice } from './named_devices.js';

const NAME_CHARS_MAX = 80;

/** The dialog that names a recorder; with null it is closed. */
export function NameDevice({
  device,
  onClose,
  named,
}: {
  device: NamedDevice | null;
  onClose: () => void;
  named: () => void;
}) {
  const [name, setName] = useState('');
  const naming = useAction(async (id: string) => {
    const text = name.trim();
    await api('PATCH /sources/{id}', { path: { id }, body: { name: text === '' ? null : text } });
    onClose();
    named();
  });
  useEffect(() => {
    setName(device?.name ?? '');
    naming.clear();
  }, [device?.id]);
  const source_id = device?.source_id ?? null;
  return (
    <Dialog open={device !== null} title="Rename the device" onClose={onClose}>
      <Form
        of={naming}
        submit="Save"
        fields={['name']}
        onSubmit={() => source_id !== null && void naming.run(source_id)}
        onCancel={onClose}
      >
        <TextField
          label="Name"
          value={name}
          onValue={setName}
          maxLength={NAME_CHARS_MAX}
          hint="Its recordings say it as well. Empty: no name."
          error={faultOf(naming.error, 'name')}
        />
      </Form>
    </Dialog>
  );
}
