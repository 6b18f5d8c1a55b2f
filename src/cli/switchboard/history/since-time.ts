import { usage } from '../../kit/arguments.ts';

/** A time such as `10m` or a date, in milliseconds since 1970. */
export function sinceTime(text: string, now: number = Date.now()): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ago = UNITS[unit];
  if (ago !== undefined) return now - Number(count) * ago;
  const date = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : NaN;
  if (!Number.isNaN(date)) return date;
  throw usage(
    `--since cannot be ${JSON.stringify(text.slice(0, 40))}.`,
    'Use 30s, 10m, 2h or 3d, or a time such as 2026-01-31T14:00.',
  );
}

/** In milliseconds. */
const UNITS: Readonly<Record<string, number | undefined>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
