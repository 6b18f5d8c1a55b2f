import type { ComponentChildren } from 'preact';
import type { Problem } from '../../protocol.ts';
import { Icon } from './icon.tsx';
import { NextStep } from './next-step.tsx';

/** A problem: what happened, and what to do. */
export const ProblemNotice = ({
  problem,
  kind = 'failed',
  children,
}: {
  problem: Problem;
  kind?: 'failed' | 'warn';
  /** Buttons that help to solve it. */
  children?: ComponentChildren;
}): ComponentChildren => (
  <div class={`notice notice-${kind}`} role="group" aria-label="Problem">
    <Icon name="warn" />
    <div class="notice-body">
      <p class="notice-text">{problem.message}</p>
      {problem.nextStep === null ? null : <NextStep text={problem.nextStep} />}
      <div class="notice-foot">
        {children}
        <code class="notice-code">{problem.code}</code>
      </div>
    </div>
  </div>
);

/** Shown where there is nothing yet: says why, and the next step. */
export const EmptyState = ({
  title,
  children,
}: {
  title: string;
  children?: ComponentChildren;
}): ComponentChildren => (
  <div class="empty">
    <h2 class="empty-title">{title}</h2>
    <div class="empty-body">{children}</div>
  </div>
);

export const Loading = ({ what }: { what: string }): ComponentChildren => (
  <p class="loading" role="status">
    <span class="spinner" aria-hidden="true" /> Loading {what}…
  </p>
);
