import { type Action, apiErrorOf, useAction } from '../api/loading.js';
import { showToast } from './toast_queue.js';

/** An action whose failure is shown as a toast with the server's reason, for buttons outside forms. */
export function useToastAction<Given extends unknown[]>(
  failed: string,
  act: (...given: Given) => Promise<unknown>,
): Action<Given> {
  return useAction(async (...given: Given) => {
    try {
      await act(...given);
    } catch (error) {
      const known = apiErrorOf(error);
      showToast(`${failed} ${known.message}`, 'problem');
      throw known;
    }
  });
}

/** Puts the focus where it is not lost when the row of the button that was pressed goes. */
export function leaveRow(): void {
  document.querySelector<HTMLElement>('#content h1')?.focus({ preventScroll: true });
}
