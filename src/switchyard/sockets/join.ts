import type { Socket } from 'node:net';

/**
 * Two connections become one: bytes go both ways as fast as the slower side takes them, and an end of one direction
 * leaves the other open. Both sockets must allow half-open.
 */
export function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  breakWith(one, other);
  breakWith(other, one);
}

/** A connection that broke must not look to the other side like one that ended well. */
function breakWith(one: Socket, other: Socket): void {
  one.on('error', () => other.resetAndDestroy());
  one.on('close', () => {
    // Destroyed in the middle, without an error of its own.
    if (!one.readableEnded && !other.destroyed) other.resetAndDestroy();
  });
}
