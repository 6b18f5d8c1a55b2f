import type { LoopbackHost } from './definition.ts';

/** All that Switchyard listens on or connects to: nothing of it is meant for other machines. */
export const LOOPBACK_HOSTS: readonly LoopbackHost[] = ['127.0.0.1', 'localhost', '::1'];

/** The host, if it is one of the three; blanks around it do not count. */
export function asLoopback(host: string): LoopbackHost | undefined {
  const wanted = host.trim();
  return LOOPBACK_HOSTS.find((each) => each === wanted);
}

/** The address to bind or to dial. What `localhost` resolves to differs between machines, so it is not asked. */
export function connectHost(host: LoopbackHost): '127.0.0.1' | '::1' {
  return host === '::1' ? '::1' : '127.0.0.1';
}
