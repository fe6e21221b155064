import { type Action, apiErrorOf, useAction } from '../api/loading.js';
import { say } from '../language/say.js';
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

/** The button of a toast that undoes what the toast tells of. A failure is a toast as well. */
export function undoButton(undo: () => Promise<void>): { words: string; run: () => void } {
  const run = () =>
    void undo().catch((error) =>
      showToast(say('It could not be undone. {message}', { message: apiErrorOf(error).message }), 'problem'),
    );
  return { words: say('Undo'), run };
}

/** Puts the focus where it is not lost when the row of the button that was pressed goes. */
export function leaveRow(): void {
  document.querySelector<HTMLElement>('#content h1')?.focus({ preventScroll: true });
}
