/**
 * Environment variables that mark the services and daemons that Switchyard starts. These are meant to outlive the
 * process that started them, so the cleanup after a server must not treat them as part of it.
 */
export const SERVICE_COOKIE = 'SWITCHYARD_COOKIE';
export const DAEMON_COOKIE = 'SWITCHYARD_DAEMON';
