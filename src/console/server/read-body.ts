import type { IncomingMessage } from 'node:http';

/** How long a body may take to arrive, in milliseconds. */
const BODY_MS = 30_000;

/** The body of a request as text; undefined if it is longer than `most` bytes, or does not arrive. */
export function readBody(request: IncomingMessage, most: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (text: string | undefined): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(() => settle(undefined), BODY_MS).unref();
    if (Number(request.headers['content-length'] ?? 0) > most) {
      settle(undefined);
      return;
    }
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= most) chunks.push(chunk);
      else settle(undefined);
    });
    request.once('end', () => settle(Buffer.concat(chunks).toString('utf8')));
    request.once('close', () => settle(undefined));
    request.once('error', () => settle(undefined));
  });
}
