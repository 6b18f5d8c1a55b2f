import { plainLine } from './printable.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** One line per event: `switchboard warn  message key=value`. Never arguments, env or headers. */
export interface Logger {
  readonly level: LogLevel;
  /** True when a message of this level would be written; ask before building an expensive one. */
  enabled(level: LogLevel): boolean;
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export interface LoggerOptions {
  /** The least severe level that is written. */
  readonly level: LogLevel;
  /** The word every line starts with. */
  readonly program: string;
  /** Takes each finished line, with its newline. */
  readonly write: (line: string) => void;
}

export function createLogger({ level, program, write }: LoggerOptions): Logger {
  const threshold = LOG_LEVELS.indexOf(level);
  const enabled = (asked: LogLevel): boolean => LOG_LEVELS.indexOf(asked) >= threshold;
  const writer = (asked: LogLevel) => (message: string, fields?: LogFields) => {
    if (enabled(asked)) write(`${program} ${asked.padEnd(5)} ${plainLine(message)}${formatFields(fields)}\n`);
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
