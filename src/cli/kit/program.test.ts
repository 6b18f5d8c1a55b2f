import { expect, test } from 'vitest';
import type { CommandOutcome } from './command.ts';
import { runCommandLine } from './program.ts';

/** Runs a program whose only command ends like this; returns what happened, in order. */
async function eventsOf(end: (events: string[]) => Promise<CommandOutcome>): Promise<string[]> {
  const events: string[] = [];
  const command = { about: [], flags: [], examples: [], run: () => end(events) };
  await runCommandLine<undefined>(['do'], {
    name: 'program',
    commands: [{ name: 'do', words: '', summary: '', load: () => Promise.resolve(command) }],
    topFlags: [],
    commonFlags: [],
    version: { data: {}, text: '' },
    overview: () => Promise.resolve(''),
    help: () => Promise.resolve(''),
    examples: { help: 'do', json: 'do --json' },
    output: {
      failureData: () => ({}),
      failureText: () => {
        events.push('printed');
        return '';
      },
      exitCodeOf: () => 1,
    },
    open: () => ({ context: undefined, settled: () => events.push('settled') }),
  });
  return events;
}

test('what a command shows while it runs is cleared before its result is printed', async () => {
  const events = await eventsOf((seen) =>
    Promise.resolve({ data: {}, text: () => (seen.push('printed'), '') }),
  );
  expect(events).toEqual(['settled', 'printed']);
});

test('and before its failure is printed', async () => {
  expect(await eventsOf(() => Promise.reject(new Error('failed')))).toEqual(['settled', 'printed']);
});
