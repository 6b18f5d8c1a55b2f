import { plainLine } from './printable.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_FORMATS = ['text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** One line per event: `switchboard warn  message key=value`. Never contains arguments, environment or headers. */
export interface Logger {
  readonly level: LogLevel;
  /** Whether a message of this level would be written. Ask before building an expensive one. */
  enabled(level: LogLevel): boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LoggerOptions {
  /** The least severe level that is written. */
  readonly level: LogLevel;
  /** The first word of every line. */
  readonly program: string;
  /** Receives each complete line, including its newline, and the event itself. */
  readonly write: (line: string, entry: LogEntry) => void;
}

/** One event of the log. */
export interface LogEntry {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields?: LogFields | undefined;
}

export function createLogger({ level, program, write }: LoggerOptions): Logger {
  const threshold = LOG_LEVELS.indexOf(level);
  const enabled = (asked: LogLevel): boolean => LOG_LEVELS.indexOf(asked) >= threshold;
  const writer = (asked: LogLevel) => (message: string, fields?: LogFields) => {
    if (!enabled(asked)) return;
    const line = `${program} ${asked.padEnd(5)} ${plainLine(message)}${formatFields(fields)}\n`;
    write(line, { level: asked, message, fields });
  };
  return {
    level,
    enabled,
    debug: writer('debug'),
    info: writer('info'),
    warn: writer('warn'),
    error: writer('error'),
  };
}

/** The same event as a JSON object on one line. A field never replaces another member. */
export function jsonLine(program: string, { level, message, fields = {} }: LogEntry): string {
  const time = new Date().toISOString();
  const safe = Object.entries(fields).map(([key, value]) => [
    key,
    typeof value === 'string' ? plainLine(value) : value,
  ]);
  return `${JSON.stringify({ ...Object.fromEntries(safe), time, level, program, message: plainLine(message) })}\n`;
}

export const silentLogger: Logger = createLogger({ level: 'silent', program: '', write: () => undefined });

function formatFields(fields: LogFields | undefined): string {
  if (fields === undefined) return '';
  let text = '';
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const shown = String(value);
    text += ` ${key}=${/^[\w./:@+-]+$/.test(shown) ? shown : JSON.stringify(plainLine(shown))}`;
  }
  return text;
}
