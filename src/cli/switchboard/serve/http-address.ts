import { isIP } from 'node:net';
import { usage } from '../../kit/arguments.ts';

export interface HttpAddress {
  readonly host: string;
  readonly port: number;
}

/** Default address of `--http`. */
const USUAL_PORT = 3006;
const USUAL_HOST = '127.0.0.1';

/** Reads `[HOST:]PORT`; empty is the usual one. Throws USAGE. */
export function readHttpAddress(text: string, flag = '--http'): HttpAddress {
  if (text === '') return { host: USUAL_HOST, port: USUAL_PORT };
  const between = flag.startsWith('-') ? ' ' : '=';
  const example = (address: string): string => `${flag}${between}${address}`;
  const advice = `For example: ${example('3006')} or ${example('127.0.0.1:3006')}; 0 picks a free port.`;
  const scheme = /^https?:\/\//i.exec(text)?.[0];
  if (scheme !== undefined) {
    const rest = text.slice(scheme.length).replace(/\/.*$/s, '');
    throw usage(
      `${flag} takes the address without ${JSON.stringify(scheme)}.`,
      `Write ${example(rest || '3006')}.`,
    );
  }
  const bracketed = /^\[([^\]]*)\]:(.*)$/.exec(text);
  const colon = text.lastIndexOf(':');
  const [host, port] = bracketed
    ? [bracketed[1]!, bracketed[2]!]
    : colon === -1
      ? [USUAL_HOST, text]
      : [text.slice(0, colon), text.slice(colon + 1)];
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535)
    throw usage(`${flag} needs a port from 0 to 65535.`, advice);
  if (host === '' || (!bracketed && host.includes(':')))
    throw usage(
      `${flag} has an invalid host in ${JSON.stringify(text)}.`,
      'Put an IPv6 address in brackets: [::1]:3006.',
    );
  return { host, port: Number(port) };
}

/** Whether only this machine can reach it. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
