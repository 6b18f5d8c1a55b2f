import type { Socket } from 'node:net';

/** How long a client may take to send an HTTP request, in milliseconds. */
const TIMEOUT_MS = 2000;
/** The `Server` header of our own responses. */
export const REFUSED_BY = 'switchyard-forwarder';
const HTTP_REQUEST = /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) \S/;

/**
 * Closes a connection whose service does not respond. HTTP clients get the reason; other connections are reset, which
 * is as close to refusing as an open port can come.
 */
export function refuse(client: Socket, why: string): void {
  const timer = setTimeout(() => client.resetAndDestroy(), TIMEOUT_MS);
  client.on('close', () => clearTimeout(timer));
  client.on('error', () => client.destroy());
  client.once('end', () => client.end());
  client.once('data', (chunk: Buffer) => {
    if (!HTTP_REQUEST.test(chunk.toString('latin1', 0, 16))) {
      client.resetAndDestroy();
      return;
    }
    const body = Buffer.from(`${why}\n`);
    client.end(
      'HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n' +
        `Server: ${REFUSED_BY}\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.toString('latin1')}`,
      'latin1',
    );
  });
  // Discards further input: closing with unread bytes would reset the connection, and lose the response.
  client.resume();
}
