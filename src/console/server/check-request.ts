import type { IncomingMessage } from 'node:http';

/** What is wrong with a request, judging by its headers alone; undefined if nothing is. */
export interface PageRefusal {
  readonly status: 400 | 403 | 421;
  readonly why: string;
}

/**
 * Checks that a request comes from this machine, under a name of this machine, and not from another web page. A page of
 * another origin can make a browser send requests here, and its host name may lead here (DNS rebinding).
 */
export function checkRequest(request: IncomingMessage): PageRefusal | undefined {
  const { rawHeaders, headers, socket, url } = request;
  if (url?.startsWith('/') !== true) return { status: 400, why: 'The target of the request is not a path.' };
  if (isDoubled(rawHeaders, 'host') || isDoubled(rawHeaders, 'origin'))
    return { status: 400, why: 'A header is repeated.' };
  if (!isLoopbackAddress(socket.remoteAddress))
    return { status: 403, why: 'The console is for this machine only.' };
  const { host = '', origin } = headers;
  const [, name = ''] = /^(.*?)(?::\d{1,5})?$/.exec(host.toLowerCase()) ?? [];
  if (!isLoopbackName(name)) return { status: 421, why: 'The Host is not a name of this machine.' };
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`)
    return { status: 403, why: 'The Origin does not match.' };
  return undefined;
}

/** Whether the browser says that anything but a page of this origin has sent the request. */
export function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site !== undefined && site !== 'same-origin';
}

function isLoopbackAddress(address: string | undefined): boolean {
  return address !== undefined && /^(?:::ffff:)?127\.|^::1$/.test(address);
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(name);
}

function isDoubled(rawHeaders: readonly string[], name: string): boolean {
  return rawHeaders.filter((header, at) => at % 2 === 0 && header.toLowerCase() === name).length > 1;
}
