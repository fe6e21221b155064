import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { ApiError } from '../api/api_error.js';

/** A field with its label, what helps to fill it in, and what is wrong with it. `children` gets what ties them together. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: string;
  hint?: ComponentChildren;
  error?: string | null | undefined;
  children: (tied: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ComponentChildren;
}) {
  const id = useId();
  const has_error = error !== undefined && error !== null;
  const described = [has_error ? `${id}-error` : '', hint === undefined ? '' : `${id}-hint`].filter(Boolean).join(' ');
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described === '' ? {} : { 'aria-describedby': described }),
        ...(has_error ? { 'aria-invalid': true as const } : {}),
      })}
      {has_error && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type TextFieldProps = {
  type?: 'text' | 'email' | 'url' | 'search' | 'number' | 'date' | 'time' | 'datetime-local';
  name?: string;
  autoComplete?: string;
  placeholder?: string;
  required?: boolean;
  maxLength?: number;
  min?: number | string;
  max?: number | string;
  spellcheck?: boolean;
  label: string;
  value: string;
  onValue: (value: string) => void;
  hint?: ComponentChildren;
  error?: string | null | undefined;
};

export function TextField({ label, value, onValue, hint, error, ...rest }: TextFieldProps) {
  return (
    <Field label={label} error={error} hint={hint}>
      {(tied) => (
        <input
          {...(rest as { type?: 'text' })}
          {...tied}
          value={value}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** A day of the calendar; empty for none. */
export function DateField({ label, value, onValue }: { label: string; value: string; onValue: (day: string) => void }) {
  return <TextField label={label} type="date" value={value} onValue={onValue} />;
}

export function SelectField({
  label,
  value,
  onValue,
  options,
  hint,
  error,
}: {
  label: string;
  value: string;
  onValue: (value: string) => void;
  /** Values with what they are called. */
  options: readonly (readonly [value: string, name: string])[];
  hint?: ComponentChildren;
  error?: string | null | undefined;
}) {
  return (
    <Field label={label} error={error} hint={hint}>
      {(tied) => (
        <select {...tied} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {options.map(([one, name]) => (
            <option key={one} value={one}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  hint,
  checked,
  onValue,
}: {
  label: string;
  hint?: ComponentChildren;
  checked: boolean;
  onValue: (checked: boolean) => void;
}) {
  const id = useId();
  return (
    <div class="check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <div>
        <label for={id}>{label}</label>
        {hint !== undefined && (
          <p class="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )}
      </div>
    </div>
  );
}

/** Shows a form's error beside its fields; errors of single fields are shown by those. */
export function FormProblem({ error, fields = [] }: { error: ApiError | null; fields?: readonly string[] }) {
  if (error === null || (error.field !== null && fields.includes(error.field))) return null;
  return (
    <p class="notice problem" role="alert">
      {error.message}
    </p>
  );
}
