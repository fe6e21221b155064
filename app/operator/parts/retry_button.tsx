import { Button } from '../../parts/button.js';
import { useToastAction } from '../../parts/toast_action.js';

/** `what` it retries, for those who hear the button alone. */
export function RetryButton({
  what,
  retry,
  after,
}: {
  what: string;
  retry: () => Promise<unknown>;
  after: () => Promise<void>;
}) {
  const { run, busy } = useToastAction('The retry failed.', async () => {
    await retry();
    await after();
  });
  return (
    <Button busy={busy} aria-label={`Retry ${what}`} onClick={() => void run()}>
      Retry
    </Button>
  );
}
