/**
 * Environment variables with the cookies of the services and daemons that Switchyard starts. All descendants inherit
 * them, including those that leave the session. These processes are meant to outlive the one that started them, so the
 * cleanup after a server must not treat them as part of it.
 */
export const SERVICE_COOKIE = 'SWITCHYARD_COOKIE';
export const DAEMON_COOKIE = 'SWITCHYARD_DAEMON';
