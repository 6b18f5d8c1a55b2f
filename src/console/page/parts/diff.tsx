import type { ComponentChildren } from 'preact';

/** A unified diff. Changes are marked by a sign as well as by color. */
export const Diff = ({ text, label }: { text: string; label: string }): ComponentChildren => (
  <pre class="diff" tabIndex={0} aria-label={label}>
    {text
      .replace(/\n$/, '')
      .split('\n')
      .map((line, index) => (
        <span key={index} class={`diff-line ${classOf(line)}`}>
          {line}
          {'\n'}
        </span>
      ))}
  </pre>
);

const classOf = (line: string): string => {
  if (/^(?:---|\+\+\+|@@)/.test(line)) return 'diff-head';
  return line.startsWith('+') ? 'diff-added' : line.startsWith('-') ? 'diff-removed' : '';
};
