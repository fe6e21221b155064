import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { say } from '../language/say.js';
import { Icon, type IconName } from './icon.js';
import { showToast } from './toast_queue.js';

type Kind = 'primary' | 'secondary' | 'quiet' | 'danger';

type ButtonProps = {
  kind?: Kind;
  icon?: IconName;
  /** Of a button that shows an icon alone. */
  label?: string;
  busy?: boolean;
  disabled?: boolean;
  small?: boolean;
  type?: 'button' | 'submit';
  onClick?: (event: MouseEvent) => void;
  children?: ComponentChildren;
  'aria-pressed'?: boolean;
  'aria-expanded'?: boolean;
  'aria-describedby'?: string;
  /** Where several buttons say the same. */
  'aria-label'?: string;
};

export function Button({
  kind = 'secondary',
  icon,
  label,
  busy = false,
  disabled = false,
  small = false,
  type = 'button',
  children,
  'aria-label': said = label,
  ...rest
}: ButtonProps) {
  const classes = ['button', kind, small ? 'small' : '', children === undefined ? 'round' : ''].filter(Boolean);
  return (
    <button
      type={type}
      class={classes.join(' ')}
      aria-label={said}
      title={children === undefined ? label : undefined}
      aria-busy={busy || undefined}
      disabled={disabled || busy}
      {...rest}
    >
      {icon !== undefined && <Icon name={icon} size={small ? 18 : 20} />}
      {children !== undefined && <span>{children}</span>}
    </button>
  );
}

/** A link that leads on as a button does. */
export function ButtonLink({
  href,
  kind = 'secondary',
  small = false,
  icon,
  children,
}: {
  href: string;
  kind?: Kind;
  small?: boolean;
  icon?: IconName;
  children: ComponentChildren;
}) {
  return (
    <a class={small ? `button ${kind} small` : `button ${kind}`} href={href}>
      {icon !== undefined && <Icon name={icon} />}
      <span>{children}</span>
    </a>
  );
}

const COPIED_MS = 2_000;

export function CopyButton({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      showToast(say('{what} could not be copied. Select it and copy it by hand.', { what }), 'problem');
      return;
    }
    setCopied(true);
    showToast(say('{what} is copied.', { what }));
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), COPIED_MS);
  };
  return (
    <Button small icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
      {copied ? say('Copied') : say('Copy')}
    </Button>
  );
}
