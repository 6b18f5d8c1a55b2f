import type { Socket } from 'node:net';

/**
 * Joins two connections: bytes are passed both ways at the pace of the slower side, and one direction may end before
 * the other. Both sockets must allow half-open. Returns a function that separates them again.
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

/** A broken connection must not look to the other side as if it ended cleanly. */
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
