import { say, sayWith } from '../../language/say.js';
import { Button, ButtonLink } from '../../parts/button.js';
import { EmptyState } from '../../parts/placeholders.js';
import { chooseWorkspace, workspaceChoices } from '../../recorder/recorded_into.js';
import { BASE, go } from '../../router.js';
import { account } from '../../shell/account.js';

/** A shared workspace in which nothing is recorded yet: what to do next. */
export function EmptyWorkspace({ id }: { id: string }) {
  const found = account.value?.workspaces.find((one) => one.id === id);
  const may_record = workspaceChoices().some(([one]) => one === id);
  const record = () => {
    chooseWorkspace(id);
    go(`${BASE}/record`);
  };
  return (
    <EmptyState
      icon="microphone"
      title={say('No recordings in this workspace yet')}
      action={
        <>
          {may_record && (
            <Button kind="primary" icon="microphone" onClick={record}>
              {say('Record into it')}
            </Button>
          )}
          <ButtonLink href={`${BASE}/workspaces/${id}`}>{say('Members')}</ButtonLink>
        </>
      }
    >
      {may_record ? (
        <p>
          {sayWith(
            'Record or import into {workspace}. To bring a recording that you have, open it and choose “Move to…”. All members see what is recorded here.',
            { workspace: <bdi>{found?.name ?? say('the workspace')}</bdi> },
          )}
        </p>
      ) : (
        <p>
          {say(
            'Recordings of its members appear here. To record into it yourself you need sharing, which is off for you.',
          )}
        </p>
      )}
    </EmptyState>
  );
}
