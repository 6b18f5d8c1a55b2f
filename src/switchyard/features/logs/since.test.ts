import { describe, expect, it } from 'vitest';
import { lineTime, parseSince } from './since.ts';

const NOW = Date.parse('2026-03-04T12:00:00Z');

describe('parseSince', () => {
  it.each([
    ['30s', 30_000],
    ['10m', 600_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1h30m', 5_400_000],
    ['1.5h', 5_400_000],
    [' 250ms ', 250],
  ])('takes %s as that long ago', (text, ago) => {
    expect(parseSince(text, NOW)).toBe(NOW - ago);
  });

  it('accepts an ISO time with or without a zone, and a date as its local beginning', () => {
    expect(parseSince('2026-03-04T11:00:00Z', NOW)).toBe(NOW - 3_600_000);
    expect(parseSince('2026-03-04T13:00+02:00', NOW)).toBe(NOW - 3_600_000);
    expect(parseSince('2026-03-04 11:30', NOW)).toBe(new Date(2026, 2, 4, 11, 30).getTime());
    expect(parseSince('2026-03-04', NOW)).toBe(new Date(2026, 2, 4).getTime());
  });

  it.each(['', 'yesterday', '10', '-5m', '10 minutes', '2026-13-45', '2026-01-01Tnoon'])(
    'rejects "%s" and shows what is valid',
    (text) => {
      expect(() => parseSince(text, NOW)).toThrow(
        expect.objectContaining({ code: 'USAGE', hint: expect.stringContaining('10m') }),
      );
    },
  );
});

describe('lineTime', () => {
  const moment = Date.parse('2026-03-04T12:34:56Z');
  const local = new Date(2026, 2, 4, 12, 34, 56).getTime();

  it.each([
    ['2026-03-04T12:34:56Z GET /', moment],
    ['2026-03-04T12:34:56.789Z GET /', moment + 789],
    ['2026-03-04T12:34:56.789123456Z GET /', moment + 789],
    ['[2026-03-04T14:34:56+02:00] GET /', moment],
    ['2026-03-04 12:34:56,250 +0000 [main] INFO x', moment + 250],
    ['INFO: 2026-03-04 12:34:56 started', local],
    ['2026/03/04 12:34:56 [error] 7#7: nginx and Go', local],
    ['time="2026-03-04T12:34:56Z" level=info msg=x', moment],
    ['127.0.0.1 - - [04/Mar/2026:12:34:56 +0000] "GET / HTTP/1.1" 200', moment],
    ['[04/Mar/2026 12:34:56] "GET / HTTP/1.1" 200', local],
    [`{"level":30,"time":${moment},"msg":"x"}`, moment],
    ['{"level":"info","ts":1772627696.5,"msg":"x"}', moment + 500],
    ['{"@timestamp":"2026-03-04T12:34:56Z","message":"x"}', moment],
  ])('reads the time of %s', (line, time) => {
    expect(lineTime(line)).toBe(time);
  });

  it.each([
    '',
    'ready in 20 ms',
    '12:34:56 [vite] hmr update',
    '    at Object.<anonymous> (/app/2026-03-04.js:12:34)',
    '2026-99-99 12:34:56 nonsense',
    '{"time":5}',
    'connected to 10.20.30.40:5432',
  ])('finds none in "%s"', (line) => {
    expect(lineTime(line)).toBeUndefined();
  });
});
