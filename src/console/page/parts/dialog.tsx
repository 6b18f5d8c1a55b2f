import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons at the bottom. */
  readonly actions?: ComponentChildren;
  readonly wide?: boolean;
}

/** A modal dialog. The browser keeps the focus inside and closes it with Escape. */
export function Dialog({ title, onClose, children, actions, wide = false }: DialogProps): ComponentChildren {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`dialog ${wide ? 'dialog-wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) onClose();
      }}
    >
      <div class="dialog-box">
        <header class="dialog-head">
          <h2 id={id}>{title}</h2>
          <Button kind="quiet" icon="close" compact onClick={onClose}>
            Close
          </Button>
        </header>
        {/* Focusable, so that long content can be scrolled with the keyboard. */}
        <div class="dialog-body" tabIndex={0} role="group" aria-labelledby={id}>
          {children}
        </div>
        {actions === undefined ? null : <footer class="dialog-foot">{actions}</footer>}
      </div>
    </dialog>
  );
}

/** Asks for confirmation before something that cannot be undone. */
export const Confirm = ({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  action: string;
  onConfirm: () => unknown;
  onClose: () => void;
  children: ComponentChildren;
}): ComponentChildren => (
  <Dialog
    title={title}
    onClose={onClose}
    actions={
      <>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" changes onClick={onConfirm}>
          {action}
        </Button>
      </>
    }
  >
    {children}
  </Dialog>
);
