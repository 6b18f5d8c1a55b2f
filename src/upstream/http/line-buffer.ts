/** Small pieces are put together in groups of this many, so that a message in tiny chunks needs little bookkeeping. */
const GROUP = 1024;

/** Bytes of one message as they come in. Each byte is copied once at most, however the chunks are cut. */
export class LineBuffer {
  /** All that has been added, in bytes. */
  length = 0;
  #list: Buffer[] = [];
  /** How many at the front are groups already. */
  #groups = 0;

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.length += piece.length;
    this.#list.push(piece);
    if (this.#list.length - this.#groups < GROUP) return;
    this.#list.push(Buffer.concat(this.#list.splice(this.#groups)));
    this.#groups++;
  }

  /** Returns the pieces collected so far and starts over. */
  take(): Buffer[] {
    const list = this.#list;
    this.#list = [];
    this.#groups = 0;
    this.length = 0;
    return list;
  }
}
