import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ApiError } from '../api/api_error.js';
import { say } from '../language/say.js';
import { Button } from './button.js';
import { FormProblem } from './field.js';

/**
 * A form of ours: what it does, what was wrong with it, and its buttons. The server says what is wrong, so the browser's
 * own checks are off; the first field that was wrong takes the focus.
 */
export function Form({
  of,
  submit,
  grave = false,
  disabled = false,
  fields = [],
  onSubmit,
  onCancel,
  children,
}: {
  of: { busy: boolean; error: ApiError | null };
  /** The label of the button that sends the form. */
  submit: string;
  /** It can't be undone. */
  grave?: boolean;
  disabled?: boolean;
  /** Fields that say themselves what is wrong with them. */
  fields?: readonly string[];
  onSubmit: () => void;
  onCancel?: () => void;
  children: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (of.error === null) return;
    const wrong = form.current?.querySelector<HTMLElement>('[aria-invalid]');
    if (wrong) wrong.focus();
    else form.current?.querySelector('.form-end')?.scrollIntoView({ block: 'nearest' });
  }, [of.error]);
  useEffect(() => {
    // A dialog begins at the button that closes it. Whoever opened this one came to fill it in, or should read it first.
    if (grave) return;
    const first = form.current?.closest('dialog')
      ? form.current.querySelector<HTMLElement>('input, select, textarea')
      : null;
    const frame = requestAnimationFrame(() => first?.focus());
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <form
      ref={form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
      <div class="form-end">
        <FormProblem error={of.error} fields={fields} />
        <div class="dialog-actions">
          {onCancel !== undefined && <Button onClick={onCancel}>{say('Cancel')}</Button>}
          <Button kind={grave ? 'danger' : 'primary'} type="submit" busy={of.busy} disabled={disabled}>
            {submit}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** The server's error for a field, or for something in it, as a sentence. */
export function faultOf(error: ApiError | null, field: string): string | null {
  for (const [path, message] of error?.fields ?? []) {
    if (path === field || path.startsWith(`${field}.`)) return sentence(message);
  }
  return null;
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.$/, '')}.`;
}
