import { SwitchboardError } from '../../../shared/errors.ts';

/** Parses `10m`, `1h30m` (that long ago) or an ISO time, to milliseconds since the epoch. */
export function parseSince(text: string, now = Date.now()): number {
  const trimmed = text.trim();
  const moment = DURATION.test(trimmed) ? now - durationOf(trimmed) : isoTime(trimmed);
  if (moment === undefined || Number.isNaN(moment)) {
    throw new SwitchboardError('USAGE', `"${text}" is neither a duration nor a time.`, {
      hint: 'Write for example 30s, 10m, 2h, 1d, or 2026-01-31T14:00.',
    });
  }
  return moment;
}

const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function durationOf(text: string): number {
  let sum = 0;
  for (const [, amount, unit = ''] of text.matchAll(/([\d.]+)(ms|s|m|h|d)/g))
    sum += Number(amount) * (UNITS[unit] ?? 0);
  return sum;
}

function isoTime(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}/.test(text)) return undefined;
  // A date without a time would be read as UTC; users mean local time.
  return Date.parse(text.length === 10 ? `${text}T00:00:00` : text);
}

/**
 * The timestamp at the start of a log line, in milliseconds since the epoch: ISO and similar forms, the form of web
 * servers, and the usual members of a JSON line. Without a zone it is local time. A time without a date is ignored.
 */
export function lineTime(line: string): number | undefined {
  const time = byNumbers(line) ?? byWebServer(line) ?? byJson(line);
  return time === undefined || Number.isNaN(time) ? undefined : time;
}

const NUMBERS =
  /^\D{0,24}?(\d{4})[-/](\d{2})[-/](\d{2})[T ](\d{2}:\d{2}:\d{2})(?:[.,](\d{1,9}))? ?(Z|[+-]\d{2}:?\d{2})?/;

function byNumbers(line: string): number | undefined {
  const found = NUMBERS.exec(line);
  if (found === null) return undefined;
  const [, year, month, day, time, fraction = '0', zone] = found;
  return Date.parse(`${year}-${month}-${day}T${time}.${fraction.slice(0, 3)}${zoneOf(zone)}`);
}

const WEB_SERVER = /^[^[]{0,64}\[(\d{2})\/([A-Z][a-z]{2})\/(\d{4})[: ](\d{2}:\d{2}:\d{2})(?: ([+-]\d{4}))?\]/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

function byWebServer(line: string): number | undefined {
  const found = WEB_SERVER.exec(line);
  if (found === null) return undefined;
  const [, day, monthName = '', year, time, zone] = found;
  const month = String(MONTHS.indexOf(monthName) + 1).padStart(2, '0');
  return Date.parse(`${year}-${month}-${day}T${time}${zoneOf(zone)}`);
}

const JSON_LINE =
  /^\{.{0,400}?"(?:time|timestamp|@timestamp|ts)"\s*:\s*(?:"([^"]{19,40})"|(\d{13})|(\d{10}(?:\.\d+)?))/;

function byJson(line: string): number | undefined {
  const found = JSON_LINE.exec(line);
  if (found === null) return undefined;
  const [, text, milliseconds, seconds] = found;
  if (text !== undefined) return byNumbers(text);
  return milliseconds === undefined ? Number(seconds) * 1000 : Number(milliseconds);
}

function zoneOf(zone: string | undefined): string {
  if (zone === undefined || zone === 'Z' || zone.includes(':')) return zone ?? '';
  return `${zone.slice(0, 3)}:${zone.slice(3)}`;
}
