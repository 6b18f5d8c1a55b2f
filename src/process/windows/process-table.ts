/** A running process of Windows. */
export interface TableEntry {
  readonly pid: number;
  /** The process that started it. It may have ended, and its pid may have been reused. */
  readonly parent: number;
  /** When it started, in milliseconds since the epoch; undefined if the system does not report it. */
  readonly start: number | undefined;
}

/** A command that lists all processes. The first one that answers is used. */
export interface TableQuery {
  /** The path below the directory System32. */
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * wmic answers several times faster than PowerShell starts, but new versions of Windows do not have it. Wine's does not
 * report times. PowerShell's output is formatted like wmic's.
 */
export const TABLE_QUERIES: readonly TableQuery[] = [
  wmic('CreationDate,ParentProcessId,ProcessId'),
  {
    program: 'WindowsPowerShell\\v1.0\\powershell.exe',
    args: [
      '-NoProfile',
      '-NonInteractive',
      '-Command',
      "'ParentProcessId,ProcessId,Milliseconds'; Get-CimInstance Win32_Process -Property ProcessId,ParentProcessId,CreationDate | " +
        "Where-Object CreationDate | ForEach-Object { '{0},{1},{2}' -f $_.ParentProcessId, $_.ProcessId, " +
        '([DateTimeOffset]$_.CreationDate).ToUnixTimeMilliseconds() }',
    ],
  },
  wmic('ParentProcessId,ProcessId'),
];

function wmic(columns: string): TableQuery {
  return { program: 'wbem\\wmic.exe', args: ['process', 'get', columns, '/format:csv'] };
}

/**
 * Parses such a list: a line of column names and a line for each process, separated by commas, or by spaces (Wine).
 * Empty if the output is anything else. Sent to another Node as text, so it uses nothing from outside.
 */
export function parseProcessTable(output: Uint8Array): TableEntry[] {
  // Some versions write UTF-16.
  const isWide = (output[0] === 0xff && output[1] === 0xfe) || output[1] === 0;
  const text = new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(output);
  const rows = text
    .split(/[\r\n]+/)
    // Wine separates columns only if they contain blanks.
    .map((line) => line.trim().replace(/^ParentProcessIDProcessID$/, 'ParentProcessId ProcessId'))
    .filter((line) => line !== '')
    .map((line) => line.split(line.includes(',') ? ',' : /\s+/).map((field) => field.trim()));
  const names = (rows[0] ?? []).map((name) => name.toLowerCase());
  const [pidAt, parentAt] = [names.indexOf('processid'), names.indexOf('parentprocessid')];
  const [dateAt, millisecondsAt] = [names.indexOf('creationdate'), names.indexOf('milliseconds')];
  if (pidAt === -1 || parentAt === -1) return [];
  const timed = dateAt !== -1 || millisecondsAt !== -1;
  return rows.slice(1).flatMap((fields) => {
    const [pid, parent] = [Number(fields[pidAt]), Number(fields[parentAt])];
    const start = startOf(fields[dateAt], fields[millisecondsAt]);
    // Processes that have run since the boot may have no time; they are not descendants of ours.
    const isComplete = fields.length === names.length && (!timed || start !== undefined);
    return isComplete && Number.isSafeInteger(pid) && Number.isSafeInteger(parent)
      ? [{ pid, parent, start }]
      : [];
  });

  /** Parses `20251118191013.123456+060`: local time and its offset from UTC in minutes. */
  function startOf(date: string | undefined, milliseconds: string | undefined): number | undefined {
    if (milliseconds !== undefined) return /^\d+$/.test(milliseconds) ? Number(milliseconds) : undefined;
    const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\.(\d{3})\d*([+-]\d+)$/.exec(date ?? '');
    if (match === null) return undefined;
    const [year = 0, month = 1, ...rest] = match.slice(1).map(Number);
    const [day = 1, hour = 0, minute = 0, second = 0, fraction = 0, offset = 0] = rest;
    return Date.UTC(year, month - 1, day, hour, minute - offset, second, fraction);
  }
}
