import { LOG_MESSAGE_LEVELS, SERVER_SHAPE, severity } from '../protocol/index.ts';
import { printable } from '../shared/printable.ts';
import { Message } from '../wire/index.ts';
import type { Session } from './session.ts';
import type { SourceCache } from './source-cache.ts';

/** Sends a source the lowest log level that any of its clients wants. */
export function passLogLevel(cache: SourceCache, sessions: ReadonlySet<Session>): void {
  const asked = [...sessions].map((session) => severity(session.logLevel)).filter((at) => at >= 0);
  if (asked.length === 0 || cache.source.about()?.capabilities.logging === undefined) return;
  cache.askQuietly('logging/setLevel', { level: LOG_MESSAGE_LEVELS[Math.min(...asked)] });
}

/** Creates a log message of our own for a client. */
export function logMessage(level: (typeof LOG_MESSAGE_LEVELS)[number], text: string): Message {
  const params = { level, logger: 'switchboard', data: printable(text) };
  return Message.from({ jsonrpc: '2.0', method: 'notifications/message', params }, SERVER_SHAPE);
}
