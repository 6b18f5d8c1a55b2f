import type { Socket } from 'node:net';

/**
 * Two connections become one: bytes go both ways as fast as the slower side takes them, and an end of one direction
 * leaves the other open. Both sockets must allow half-open. The result takes them apart again.
 */
export function join(one: Socket, other: Socket): () => void {
  one.pipe(other);
  other.pipe(one);
  const undo = [breakWith(one, other), breakWith(other, one)];
  return () => {
    one.unpipe(other);
    other.unpipe(one);
    for (const each of undo) each();
  };
}

/** A connection that broke must not look to the other side like one that ended well. */
function breakWith(one: Socket, other: Socket): () => void {
  const onError = (): void => void other.resetAndDestroy();
  const onClose = (): void => {
    // Destroyed in the middle, without an error of its own.
    if (!one.readableEnded && !other.destroyed) other.resetAndDestroy();
  };
  one.on('error', onError);
  one.on('close', onClose);
  return () => {
    one.off('error', onError);
    one.off('close', onClose);
  };
}
