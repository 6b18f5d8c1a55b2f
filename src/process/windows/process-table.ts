/** A running process of Windows. */
export interface TableEntry {
  readonly pid: number;
  /** Who started it. It may be gone, and its pid may be another process's by now. */
  readonly parent: number;
  /** When it started, in milliseconds since the epoch; undefined where the system does not say. */
  readonly start: number | undefined;
}

/** Asks the system for all processes. The first that answers counts. */
export interface TableQuery {
  /** Below the directory System32. */
  readonly program: string;
  readonly args: readonly string[];
}

/**
 * wmic answers several times faster than PowerShell starts, but new versions of Windows come without it. Wine's knows no
 * times. PowerShell's answer is made to look like that of wmic.
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
 * The processes in such an answer, a line of column names and a line for each process; empty if it is none. Separated by
 * commas, or by spaces (Wine). Sent to another Node as text: it uses nothing from outside.
 */
export function parseProcessTable(output: Uint8Array): TableEntry[] {
  // As UTF-16 in some versions.
  const isWide = (output[0] === 0xff && output[1] === 0xfe) || output[1] === 0;
  const text = new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(output);
  const rows = text
    .split(/[\r\n]+/)
    // Wine separates columns only where they have blanks.
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
    // What runs since the boot may have no time; it is nobody's descendant.
    const isComplete = fields.length === names.length && (!timed || start !== undefined);
    return isComplete && Number.isSafeInteger(pid) && Number.isSafeInteger(parent)
      ? [{ pid, parent, start }]
      : [];
  });

  /** `20251118191013.123456+060`: local time, and its distance from UTC in minutes. */
  function startOf(date: string | undefined, milliseconds: string | undefined): number | undefined {
    if (milliseconds !== undefined) return /^\d+$/.test(milliseconds) ? Number(milliseconds) : undefined;
    const match = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\.(\d{3})\d*([+-]\d+)$/.exec(date ?? '');
    if (match === null) return undefined;
    const [year = 0, month = 1, ...rest] = match.slice(1).map(Number);
    const [day = 1, hour = 0, minute = 0, second = 0, fraction = 0, offset = 0] = rest;
    return Date.UTC(year, month - 1, day, hour, minute - offset, second, fraction);
  }
}
