/** The layout of screens: a bar, a list, and the details of one item next to it. */
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Button } from './button.tsx';

export const Toolbar = ({ children }: { children: ComponentChildren }): ComponentChildren => (
  <div class="toolbar">{children}</div>
);

/** A list with one item next to it, or over it on a narrow screen. */
export const Split = ({
  children,
  detail,
}: {
  children: ComponentChildren;
  detail: ComponentChildren;
}): ComponentChildren => (
  <div class={`split ${detail === null ? '' : 'split-open'}`}>
    <div class="split-list">{children}</div>
    {detail}
  </div>
);

interface DetailProps {
  readonly title: ComponentChildren;
  readonly label: string;
  readonly onClose: () => void;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The details of one item. Escape closes them. */
export function Detail({ title, label, onClose, actions, children }: DetailProps): ComponentChildren {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      if (document.querySelector('dialog[open]') !== null) return;
      onClose();
      document.querySelector<HTMLElement>('.split-list [role=grid]')?.focus();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [onClose]);
  return (
    <section class="detail" aria-label={label}>
      <header class="detail-head">
        <h2 class="detail-title">{title}</h2>
        <Button kind="quiet" icon="close" compact onClick={onClose}>
          Close
        </Button>
        {actions === undefined ? null : <div class="detail-actions">{actions}</div>}
      </header>
      <div class="detail-body" tabIndex={0} role="group" aria-label={`${label}: content`}>
        {children}
      </div>
    </section>
  );
}

export interface Tab {
  readonly id: string;
  readonly title: string;
  readonly count?: number | null;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  readonly children: ComponentChildren;
}

/** Arrow keys move from tab to tab. */
export function Tabs({ label, tabs, chosen, onChoose, children }: TabsProps): ComponentChildren {
  const move = (event: KeyboardEvent, by: number): void => {
    const place = tabs.findIndex(({ id }) => id === chosen);
    const next = tabs[(place + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onChoose(next.id);
    const bar = event.currentTarget;
    if (bar instanceof HTMLElement) bar.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)?.focus();
  };
  return (
    <>
      <div
        class="tabs"
        role="tablist"
        aria-label={label}
        onKeyDown={(event) => {
          if (event.key === 'ArrowRight') move(event, 1);
          if (event.key === 'ArrowLeft') move(event, -1);
        }}
      >
        {tabs.map(({ id, title, count }) => (
          <button
            key={id}
            type="button"
            role="tab"
            data-tab={id}
            aria-selected={id === chosen}
            tabIndex={id === chosen ? 0 : -1}
            class="tab"
            onClick={() => onChoose(id)}
          >
            {title}
            {count === undefined || count === null ? null : <span class="tab-count">{count}</span>}
          </button>
        ))}
      </div>
      <div
        class="tab-panel"
        role="tabpanel"
        aria-label={tabs.find(({ id }) => id === chosen)?.title ?? label}
      >
        {children}
      </div>
    </>
  );
}

/** A list of names and values. */
export const Facts = ({ children }: { children: ComponentChildren }): ComponentChildren => (
  <dl class="facts">{children}</dl>
);

export const Fact = ({
  name,
  children,
}: {
  name: string;
  children: ComponentChildren;
}): ComponentChildren => (
  <div class="fact">
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export const Section = ({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}): ComponentChildren => (
  <section class="section" aria-label={title}>
    <header class="section-head">
      <h3>{title}</h3>
      {actions}
    </header>
    {children}
  </section>
);
