import { afterEach, expect, test } from 'vitest';
import { createLogger } from '../../shared/log.ts';
import { onStop, SIGNAL_EXIT, timeLeftAfter } from './signals.ts';

const EVENTS = [...Object.keys(SIGNAL_EXIT), 'uncaughtException', 'unhandledRejection'];
const before = new Map(EVENTS.map((event) => [event, process.listeners(event as 'SIGINT')]));

afterEach(() => {
  for (const [event, kept] of before)
    for (const listener of process.listeners(event as 'SIGINT'))
      if (!kept.includes(listener)) process.off(event, listener);
});

const log = createLogger({ level: 'silent', program: 'test', write: () => undefined });

function stopOf(platform: NodeJS.Platform): {
  readonly stopped: Promise<string>;
  readonly hangups: () => number;
} {
  let hangups = 0;
  const stopped = onStop(
    () => undefined,
    log,
    () => hangups++,
    platform,
  );
  return { stopped, hangups: () => hangups };
}

test('SIGHUP is a hangup where it is sent by people, and the end where it is a console window that closes', async () => {
  const linux = stopOf('linux');
  process.emit('SIGHUP', 'SIGHUP');
  expect(linux.hangups()).toBe(1);
  process.emit('SIGTERM', 'SIGTERM');
  expect(await linux.stopped).toBe('SIGTERM');
  for (const event of ['SIGHUP', 'SIGTERM']) process.removeAllListeners(event);

  const windows = stopOf('win32');
  process.emit('SIGHUP', 'SIGHUP');
  expect(await windows.stopped).toBe('SIGHUP');
  expect(windows.hangups()).toBe(0);
});

test('Ctrl-Break ends a program on Windows', async () => {
  const { stopped } = stopOf('win32');
  process.emit('SIGBREAK', 'SIGBREAK');
  expect(await stopped).toBe('SIGBREAK');
});

test('only a console window that closes leaves little time', () => {
  expect(timeLeftAfter('SIGHUP', 'win32')).toBeLessThan(5000);
  expect(timeLeftAfter('SIGHUP', 'linux')).toBe(Infinity);
  expect(timeLeftAfter('SIGINT', 'win32')).toBe(Infinity);
});
