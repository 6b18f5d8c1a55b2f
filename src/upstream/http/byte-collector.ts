/** Small pieces are joined in groups of this many, so that a message in tiny chunks needs little bookkeeping. */
const GROUP = 1024;

/** Collects bytes as they arrive. Each byte is copied at most once, however the chunks are cut. */
export class ByteCollector {
  /** Of everything added, in bytes. */
  length = 0;
  #pieces: Buffer[] = [];
  /** How many pieces at the front are joined groups. */
  #groups = 0;

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.length += piece.length;
    this.#pieces.push(piece);
    if (this.#pieces.length - this.#groups < GROUP) return;
    this.#pieces.push(Buffer.concat(this.#pieces.splice(this.#groups)));
    this.#groups++;
  }

  /** Returns the pieces collected so far and starts over. */
  take(): Buffer[] {
    const pieces = this.#pieces;
    this.#pieces = [];
    this.#groups = 0;
    this.length = 0;
    return pieces;
  }
}
