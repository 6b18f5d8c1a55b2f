/**
 * The variables by which Switchyard knows what it has started: its services, and processes of its own. They are meant to
 * go on when whoever started them ends, so nobody who cleans up after a server may count them as a part of it.
 */
export const SERVICE_COOKIE = 'SWITCHYARD_COOKIE';
export const DAEMON_COOKIE = 'SWITCHYARD_DAEMON';
