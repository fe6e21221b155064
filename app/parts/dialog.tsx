import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { say } from '../language/say.js';
import { place } from '../router.js';
import { Button } from './button.js';
import { DraftPlace, forgetDrafts, hasDrafts } from './drafts.js';

/**
 * A dialog over the page: the browser keeps the focus in it, Escape closes it, and the focus goes back. Closing it forgets
 * the drafts of its fields.
 */
export function Dialog({
  open,
  title,
  about = '',
  onClose,
  children,
}: {
  open: boolean;
  title: string;
  /** The id of what it is about, where the address and the title do not tell. */
  about?: string;
  onClose: () => void;
  children: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const closing = useRef(onClose);
  closing.current = onClose;
  const id = useId();
  const draft_place = placeOf(title, about);
  useEffect(() => {
    const element = dialog.current;
    if (element === null || !open) return;
    const before = document.activeElement;
    // What is hit outside is the dialog's own ground.
    const leave = (event: MouseEvent) => event.target === element && closing.current();
    element.addEventListener('click', leave);
    element.showModal();
    // The browser would take the first button, which closes it. A space would change a box that is ticked.
    const fields = ':is(input:not([type="checkbox"]), select, textarea)';
    element.querySelector<HTMLElement>(`.dialog > :not(.dialog-head) ${fields}`)?.focus();
    return () => {
      element.removeEventListener('click', leave);
      element.close();
      forgetDrafts(draft_place);
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, [open]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={`${id}-title`}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      {open && (
        <div class="dialog">
          <div class="dialog-head">
            <h2 id={`${id}-title`}>{title}</h2>
            <Button kind="quiet" small icon="close" label={say('Close')} onClick={onClose} />
          </div>
          <DraftPlace.Provider value={draft_place}>{children}</DraftPlace.Provider>
        </div>
      )}
    </dialog>
  );
}

function placeOf(title: string, about = ''): string {
  return `${place.peek().path} ${title} ${about}`;
}

/** Whether the dialog of this title is open. One that a reload closed with something typed into it opens by itself. */
export function useDialogOpen(title: string, about?: string): [open: boolean, set: (open: boolean) => void] {
  return useState(() => hasDrafts(placeOf(title, about)));
}

/**
 * The one of `items` whose dialog is open; null while none is. `dialogOf` gives the dialog's title, and `about` to tell it from
 * others of that title. One that a reload closed opens by itself, as above.
 */
export function useDialogAbout<Item>(
  items: readonly Item[],
  dialogOf: (item: Item) => { title: string; about: string },
): [item: Item | null, set: (item: Item | null) => void] {
  const [item, setItem] = useState<Item | null>(null);
  const is_loaded = items.length > 0;
  useEffect(() => {
    const drafted = items.find((one) => {
      const { title, about } = dialogOf(one);
      return hasDrafts(placeOf(title, about));
    });
    if (drafted !== undefined) setItem(drafted);
  }, [is_loaded]);
  return [item, setItem];
}

type ConfirmQuestion = {
  title: string;
  text: ComponentChildren;
  /** The label of the button that goes on. */
  action: string;
  /** It can't be undone. */
  grave?: boolean;
};

const asked = signal<(ConfirmQuestion & { answer: (goes_on: boolean) => void }) | null>(null);

/** Asks before something is done; false where the person would rather not. */
export function confirm(question: ConfirmQuestion): Promise<boolean> {
  asked.value?.answer(false);
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer: (goes_on) => {
        asked.value = null;
        resolve(goes_on);
      },
    };
  });
}

/** Where `confirm` asks; once in the page. */
export function ConfirmDialog() {
  const question = asked.value;
  return (
    <Dialog open={question !== null} title={question?.title ?? ''} onClose={() => question?.answer(false)}>
      <div class="dialog-text">{question?.text}</div>
      <div class="dialog-actions">
        <Button onClick={() => question?.answer(false)}>{say('Cancel')}</Button>
        <Button kind={question?.grave === true ? 'danger' : 'primary'} onClick={() => question?.answer(true)}>
          {question?.action}
        </Button>
      </div>
    </Dialog>
  );
}
