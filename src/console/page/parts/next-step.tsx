import type { ComponentChildren } from 'preact';
import { CopyButton } from './button.tsx';

/** A hint, whose commands can be copied. */
export function NextStep({ text }: { text: string }): ComponentChildren {
  const commands = [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
  return (
    <p class="next-step">
      <InlineCode text={text} />
      {commands.length === 1 ? <CopyButton text={commands[0] ?? ''} name="Copy the command" /> : null}
    </p>
  );
}

/** A text in which backticks mark code. */
export const InlineCode = ({ text }: { text: string }): ComponentChildren =>
  text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
