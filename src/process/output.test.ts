import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { captureOutput, type OutputOptions } from './output.ts';

function capture(options: Partial<OutputOptions> = {}) {
  const stream = new PassThrough();
  const lines: string[] = [];
  const output = captureOutput(stream, { name: 'web', sink: (line) => lines.push(line), ...options });
  const end = async (): Promise<string[]> => {
    stream.end();
    await once(stream, 'close');
    return lines;
  };
  return { stream, output, lines, end };
}

describe('lines', () => {
  test('carry the name, with any line ending, also without one at the end', async () => {
    const { stream, end, output } = capture();
    stream.write('one\r\ntwo\n\nthree');
    expect(await end()).toEqual(['[web] one', '[web] two', '[web] ', '[web] three']);
    expect(output.tail()).toEqual(['one', 'two', '', 'three']);
  });

  test('stay intact when characters arrive byte by byte', async () => {
    const { stream, end } = capture();
    for (const byte of Buffer.from('grün 🦊\r\nok\n')) stream.write(Buffer.from([byte]));
    expect(await end()).toEqual(['[web] grün 🦊', '[web] ok']);
  });

  test('lose ANSI codes and OSC 52, and show other control bytes as text, and broken UTF-8 as such', async () => {
    const { stream, end } = capture();
    stream.write('\u001b[31mred\u001b]52;c;aGk=\u0007\ta\rb\u0007\n');
    stream.write(Buffer.from([0xff, 0x41, 10]));
    expect(await end()).toEqual(['[web] red\\ta\\x0db\\x07', '[web] \ufffdA']);
  });

  test('are truncated between characters when they are too long, with a note', async () => {
    const { stream, end } = capture({ longestLine: 5 });
    stream.write('äääääää');
    stream.write('äääää\nshort\n');
    expect(await end()).toEqual(['[web] ää … (19 bytes more)', '[web] short']);
  });

  test('the tail holds the last twenty lines and an incomplete one', () => {
    const { stream, output } = capture();
    for (let i = 1; i <= 30; i++) stream.write(`${i}\n`);
    stream.write('unfinished');
    stream.read(0);
    return sleep(5).then(() => {
      expect(output.tail()).toEqual([...Array.from({ length: 19 }, (_, i) => `${i + 12}`), 'unfinished']);
    });
  });
});

describe('a flood', () => {
  test('is sampled, and each window says once how much was dropped', async () => {
    const { stream, output, end } = capture({ linesPerWindow: 3 });
    stream.write('a\nb\nc\nd\ne\nf');
    stream.write('g\nh\n');
    await sleep(150);
    stream.write('next\n');
    expect(await end()).toEqual(['[web] a', '[web] b', '[web] c', '[web] 4 lines dropped', '[web] next']);
    expect(output.dropped).toBe(4);
    expect(output.tail()).toEqual(['a', 'b', 'c', 'd', 'e', 'fg', 'h', 'next']);
  });

  test('still leaves the true last lines for the error message', async () => {
    const { stream, output, end } = capture({ bytesPerWindow: 10 });
    stream.write(Array.from({ length: 5000 }, (_, i) => `line ${i}\n`).join('') + 'the re');
    stream.write('ason\n');
    await end();
    expect(output.tail()).toEqual([
      ...Array.from({ length: 19 }, (_, i) => `line ${i + 4981}`),
      'the reason',
    ]);
  });

  test('as fast as a pipe can carry costs neither memory nor our time', async () => {
    const program = `const b = Buffer.from('flood of lines\\n'.repeat(65536)); for (;;) require('fs').writeSync(2, b);`;
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let passed = 0;
    await once(child.stderr, 'readable');
    const before = process.memoryUsage().rss;
    const output = captureOutput(child.stderr, { name: 'flood', sink: () => (passed += 1) });

    const began = performance.now();
    let latest = 0;
    while (performance.now() - began < 1000) {
      const asked = performance.now();
      await sleep(10);
      latest = Math.max(latest, performance.now() - asked - 10);
    }
    const windows = Math.ceil((performance.now() - began) / 100) + 1;
    expect(passed).toBeGreaterThan(200);
    expect(passed).toBeLessThanOrEqual(windows * 201);
    expect(output.dropped).toBeGreaterThan(100_000);
    expect(output.tail()).toHaveLength(20);
    expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 * 1024);
    expect(latest).toBeLessThan(250);
  });
});
