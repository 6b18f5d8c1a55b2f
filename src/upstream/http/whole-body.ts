import type { IncomingMessage } from 'node:http';
import type { IncomingStream } from './incoming-stream.ts';
import { LineBuffer } from './line-buffer.ts';

export interface WholeBody {
  readonly kind: 'whole' | 'too-large' | 'broken';
  /** What came of it, within the limit. */
  readonly pieces: Buffer[];
}

/**
 * Reads a body that is one thing. One over the limit is not read further, and one that is not there after `timeoutMs`
 * milliseconds (default: any time) counts as broken off.
 */
export function wholeBody(
  response: IncomingMessage,
  incomingStream: IncomingStream,
  limit: number,
  timeoutMs?: number,
): Promise<WholeBody> {
  return new Promise((resolve) => {
    const pieces = new LineBuffer();
    let tooLarge = false;
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => response.destroy(), timeoutMs);
    incomingStream.read(response, {
      data: (chunk) => {
        if (tooLarge) return;
        tooLarge = pieces.length + chunk.length > limit;
        if (tooLarge) response.destroy();
        else pieces.add(chunk);
      },
      ended: (whole) => {
        clearTimeout(timer);
        resolve({ kind: tooLarge ? 'too-large' : whole ? 'whole' : 'broken', pieces: pieces.take() });
      },
    });
  });
}

/** The most that is read of a body that goes with a bad status, in bytes. */
const REFUSAL_BYTES = 256 * 1024;
/** In milliseconds. */
const REFUSAL_TIMEOUT_MS = 2000;

/** What a server says with a bad status; whatever of it came in time. */
export async function refusalBody(
  response: IncomingMessage,
  incomingStream: IncomingStream,
): Promise<Buffer[]> {
  const { pieces } = await wholeBody(response, incomingStream, REFUSAL_BYTES, REFUSAL_TIMEOUT_MS);
  return pieces;
}
