import { useState } from 'preact/hooks';
import { say } from '../language/say.js';
import { SelectField } from '../parts/field.js';
import { chooseWorkspace, chosenWorkspace, workspaceChoices } from './recorded_into.js';

/** Asks which workspace recordings go into; nothing where there is one alone. The choice stands until another is made. */
export function WorkspaceChoice() {
  const choices = workspaceChoices();
  const [chosen, setChosen] = useState(chosenWorkspace() ?? choices[0]?.[0] ?? '');
  if (choices.length === 0) return null;
  return (
    <SelectField
      label={say('Workspace')}
      value={chosen}
      onValue={(id) => {
        chooseWorkspace(id);
        setChosen(id);
      }}
      options={choices}
    />
  );
}
