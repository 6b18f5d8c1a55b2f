import { LOG_MESSAGE_LEVELS, severity } from '../protocol/index.ts';
import type { Session } from './session.ts';
import type { Shelf } from './shelf.ts';

/** Tells a source how much its clients want to hear; of several, the one that wants most decides. */
export function passLogLevel(shelf: Shelf, sessions: ReadonlySet<Session>): void {
  const asked = [...sessions].map((session) => severity(session.logLevel)).filter((at) => at >= 0);
  if (asked.length === 0 || shelf.source.about()?.capabilities.logging === undefined) return;
  shelf.askQuietly('logging/setLevel', { level: LOG_MESSAGE_LEVELS[Math.min(...asked)] });
}
