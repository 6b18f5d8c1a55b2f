import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { readOnly } from '../state/live.ts';
import { Icon, type IconName } from './icon.tsx';

interface ButtonProps {
  readonly children: ComponentChildren;
  readonly onClick: () => unknown;
  readonly icon?: IconName;
  readonly kind?: 'plain' | 'main' | 'danger' | 'quiet';
  /** Disabled in read-only mode, because it changes something. Default false. */
  readonly changes?: boolean;
  readonly disabled?: boolean;
  readonly title?: string;
  /** Shows only the icon; the children are its accessible name. Default false. */
  readonly compact?: boolean;
  readonly pressed?: boolean;
}

/** A button that shows while its action is in progress. */
export function Button(props: ButtonProps): ComponentChildren {
  const { children, icon, kind = 'plain', compact = false, pressed } = props;
  const [busy, setBusy] = useState(false);
  const refused = props.changes === true && readOnly.value;
  const onClick = async (): Promise<void> => {
    const work = props.onClick();
    if (!(work instanceof Promise)) return;
    setBusy(true);
    await work.finally(() => setBusy(false));
  };
  const label = typeof children === 'string' && compact ? children : undefined;
  return (
    <button
      type="button"
      class={`button button-${kind} ${compact ? 'button-compact' : ''}`}
      disabled={props.disabled === true || refused || busy}
      aria-busy={busy}
      aria-pressed={pressed}
      aria-label={label}
      title={refused ? 'This console is read-only' : (props.title ?? label)}
      onClick={() => void onClick()}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      {compact ? null : <span>{children}</span>}
    </button>
  );
}

/** Copies a text, and confirms it. */
export function CopyButton({ text, name = 'Copy' }: { text: string; name?: string }): ComponentChildren {
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1_500);
  };
  return (
    <Button kind="quiet" icon="copy" compact onClick={copy}>
      {copied ? 'Copied' : name}
    </Button>
  );
}
