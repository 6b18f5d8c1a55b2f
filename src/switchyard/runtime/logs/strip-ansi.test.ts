import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stripAnsi } from './strip-ansi.ts';

const ESC = '\u001b';

describe('stripAnsi', () => {
  it.each([
    ['a plain line', 'listening on :3000', 'listening on :3000'],
    ['tabs and other alphabets', '\tгото́во 🚀', '\tгото́во 🚀'],
    ['colours', `${ESC}[1;32mready${ESC}[0m in 20 ms`, 'ready in 20 ms'],
    ['true colours', `${ESC}[38;2;1;2;3mred${ESC}[39m`, 'red'],
    ['private modes and cursor moves', `${ESC}[?25l${ESC}[2K${ESC}[1Gdone${ESC}[?25h`, 'done'],
    ['a title that ends with BEL', `${ESC}]0;my title\u0007text`, 'text'],
    ['a link', `${ESC}]8;;http://x/${ESC}\\link${ESC}]8;;${ESC}\\ here`, 'link here'],
    ['a device control string', `${ESC}P1$r0m${ESC}\\after`, 'after'],
    ['a choice of character set', `${ESC}(Btext`, 'text'],
    ['the one-byte forms', '\u009b31mred\u009b0m \u009d0;title\u009ctext', 'red text'],
    ['a control sequence cut in the middle', `text${ESC}[38;5`, 'text'],
    ['a title cut in the middle', `text${ESC}]0;my ti`, 'text'],
    ['a lone escape', `text${ESC}`, 'text'],
    ['a title that another sequence interrupts', `${ESC}]0;my ti${ESC}[31mred`, 'red'],
    ['a line ending of Windows', 'text\r', 'text'],
    ['a progress bar', '10 %\r50 %\r100 %', '100 %'],
    ['a progress bar that erases itself first', `\r${ESC}[K10 %\r${ESC}[K20 %\r`, '20 %'],
    ['bells and backspaces', 'be\u0007ep\u0008', 'beep'],
  ])('takes the means out of %s', (_, raw, plain) => {
    expect(stripAnsi(raw)).toBe(plain);
  });

  it('leaves no control character but the tab, and is idempotent', () => {
    const unit = fc.oneof(
      fc.constantFrom(ESC, `${ESC}[`, `${ESC}]`, '\u009b', '\u0007', '\\', ';', '3', 'm', '\r', '\t', ' '),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), (units) => {
        const plain = stripAnsi(units.join(''));
        // eslint-disable-next-line no-control-regex
        expect(plain).not.toMatch(/[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/);
        expect(stripAnsi(plain)).toBe(plain);
      }),
    );
  });

  it('leaves text without control characters alone', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('[', ']', '0', ';', '3', '1', 'm', '\\', '?', 'a', ' ', 'é', '\t'),
        }),
        (text) => {
          expect(stripAnsi(text)).toBe(text);
        },
      ),
    );
  });

  it('takes linear time, even for sequences that never end', () => {
    const started = performance.now();
    stripAnsi(`${ESC}]`.repeat(200_000) + `${ESC}[`.repeat(200_000) + '0;'.repeat(200_000));
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
