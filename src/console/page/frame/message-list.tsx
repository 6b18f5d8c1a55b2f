import type { ComponentChildren } from 'preact';
import { Button } from '../parts/button.tsx';
import { NextStep } from '../parts/next-step.tsx';
import { dismiss, messages } from '../state/messages.ts';

export const MessageList = (): ComponentChildren => (
  <div class="messages" role="status" aria-live="polite">
    {messages.value.map(({ id, kind, title, problem }) => (
      <div key={id} class={`message message-${kind}`}>
        <div class="message-body">
          <p class="message-title">{title}</p>
          {problem === null ? null : <p>{problem.message}</p>}
          {typeof problem?.nextStep === 'string' ? <NextStep text={problem.nextStep} /> : null}
        </div>
        <Button kind="quiet" icon="close" compact onClick={() => dismiss(id)}>
          Dismiss
        </Button>
      </div>
    ))}
  </div>
);
