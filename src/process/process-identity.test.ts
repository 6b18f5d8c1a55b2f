import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { bootId, parseStat, readStat } from './process-identity.ts';

/** A line in the kernel's format, with the fields we read. */
function statLine(name: string, { state = 'S', threads = 1 } = {}): string {
  return `4711 (${name}) ${state} 42 4711 4700 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 ${threads} 0 98765 1 2 3\n`;
}

describe('parseStat', () => {
  test.each(['node', 'a b', 'x) S 1 1 1 (y', ') Z 1 1 1', 'line\nbreak', ''])(
    'reads past the name %j',
    (name) => {
      expect(parseStat(statLine(name))).toEqual({
        pid: 4711,
        parent: 42,
        session: 4700,
        startTime: 98765,
        alive: true,
      });
    },
  );

  test.each(['Z', 'X', 'x'])('state %s is dead', (state) => {
    expect(parseStat(statLine('node', { state }))?.alive).toBe(false);
  });

  test('a zombie whose other threads still run is alive', () => {
    expect(parseStat(statLine('node', { state: 'Z', threads: 2 }))?.alive).toBe(true);
  });

  test.each(['', '4711 (node', '4711 (node) S 42 1', 'no stat at all', '4711 (node) S a b c'])(
    '%j is nobody',
    (text) => expect(parseStat(text)).toBeUndefined(),
  );
});

describe.runIf(process.platform === 'linux')('on Linux', () => {
  test('we can read who we are', () => {
    expect(readStat(process.pid)).toMatchObject({ pid: process.pid, parent: process.ppid, alive: true });
  });

  test('a process that is gone has no identity', () => {
    const { pid } = spawnSync('true');
    expect(readStat(pid)).toBeUndefined();
  });

  test('the boot has a name that stays', () => {
    expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
    expect(bootId()).toBe(bootId());
  });
});
