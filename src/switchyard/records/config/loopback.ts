import type { LoopbackHost } from './definition.ts';

/** The only hosts that Switchyard listens on or connects to; nothing is meant for other machines. */
export const LOOPBACK_HOSTS: readonly LoopbackHost[] = ['127.0.0.1', 'localhost', '::1'];

/** The host if it is one of these, ignoring surrounding spaces. */
export function asLoopback(host: string): LoopbackHost | undefined {
  const wanted = host.trim();
  return LOOPBACK_HOSTS.find((each) => each === wanted);
}

/** The address to bind or to connect to. `localhost` is not resolved, because the result differs between machines. */
export function connectHost(host: LoopbackHost): '127.0.0.1' | '::1' {
  return host === '::1' ? '::1' : '127.0.0.1';
}
