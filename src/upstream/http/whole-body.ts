import type { IncomingMessage } from 'node:http';
import type { Inlet } from './inlet.ts';
import { Pieces } from './pieces.ts';

export interface WholeBody {
  readonly kind: 'whole' | 'too-large' | 'broken';
  /** What came of it, within the limit. */
  readonly pieces: Buffer[];
}

/**
 * Reads a body that is one thing. One over the limit is not read further, and one that is not there after `patience`
 * milliseconds (default: any time) counts as broken off.
 */
export function wholeBody(
  response: IncomingMessage,
  inlet: Inlet,
  limit: number,
  patience?: number,
): Promise<WholeBody> {
  return new Promise((resolve) => {
    const pieces = new Pieces();
    let tooLarge = false;
    const timer = patience === undefined ? undefined : setTimeout(() => response.destroy(), patience);
    inlet.read(response, {
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
const REFUSAL_PATIENCE = 2000;

/** What a server says with a bad status; whatever of it came in time. */
export async function refusalBody(response: IncomingMessage, inlet: Inlet): Promise<Buffer[]> {
  const { pieces } = await wholeBody(response, inlet, REFUSAL_BYTES, REFUSAL_PATIENCE);
  return pieces;
}
