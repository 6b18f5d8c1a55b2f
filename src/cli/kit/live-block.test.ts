import { expect, test } from 'vitest';
import { createLiveBlock } from './live-block.ts';

/** A terminal with the control sequences that a block needs; lines wrap at its width. */
function createScreen(columns: number, rows: number) {
  let lines: string[] = [''];
  let at = 0;
  return {
    stream: { columns, rows },
    write(text: string) {
      // eslint-disable-next-line no-control-regex
      for (const [token] of text.matchAll(/\x1b\[\d*[A-Za-z]|[^\x1b]/g)) {
        if (token === '\r') continue;
        if (token === '\n') {
          at += 1;
          lines[at] ??= '';
        } else if (token.startsWith('\x1b[') && token.endsWith('A'))
          at = Math.max(0, at - Number(token.slice(2, -1) || 1));
        else if (token === '\x1b[J') lines = [...lines.slice(0, at), ''];
        else lines[at] = `${lines[at] ?? ''}${token}`;
      }
    },
    /** Wraps lines that have become too long, as a terminal does. */
    narrow(to: number) {
      this.stream.columns = to;
      lines = lines.flatMap((line) => line.match(new RegExp(`.{1,${to}}`, 'g')) ?? ['']);
      at = lines.length - 1;
    },
    shown: () => lines,
  };
}

test('a block is redrawn in place, also when it grows and shrinks', () => {
  const screen = createScreen(40, 10);
  screen.write('$ before\n');
  const block = createLiveBlock(screen.stream, (text) => screen.write(text));
  block.draw(['one', 'two']);
  block.draw(['one', 'two', 'three']);
  expect(screen.shown()).toEqual(['$ before', 'one', 'two', 'three']);
  block.draw(['only']);
  expect(screen.shown()).toEqual(['$ before', 'only']);
  block.clear();
  expect(screen.shown()).toEqual(['$ before', '']);
});

test('lines are truncated to the terminal, and no more are drawn than fit', () => {
  const screen = createScreen(12, 4);
  const block = createLiveBlock(screen.stream, (text) => screen.write(text));
  block.draw(['a line that is long', '2', '3', '4', '5']);
  expect(screen.shown()).toEqual(['a line tha…', '2', '… and 3 mo…']);
});

test('a terminal that was made narrower is cleared of wrapped lines', () => {
  const screen = createScreen(30, 10);
  screen.write('$ before\n');
  const block = createLiveBlock(screen.stream, (text) => screen.write(text));
  block.draw(['a line of twenty-nine letters', 'b']);
  screen.narrow(15);
  block.draw(['a line of twenty-nine letters', 'b']);
  expect(screen.shown()).toEqual(['$ before', 'a line of twe…', 'b']);
});
