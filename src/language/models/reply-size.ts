/** The longest arguments of all calls in a response, in UTF-16 units, and the most parts. Models write far less. */
const MOST_ARGUMENTS = 1024 * 1024;
const MOST_PARTS = 1000;

/** Counts what a model writes while it arrives. Throws an `OversizedReply` if it is too much. */
export class ReplySize {
  #arguments = 0;
  #parts = 0;

  /** Arguments are parsed without a pause. */
  addArguments(text: string): void {
    this.#arguments += text.length;
    if (this.#arguments > MOST_ARGUMENTS)
      throw new OversizedReply(`wrote arguments of more than ${MOST_ARGUMENTS} characters`);
  }

  addPart(): void {
    if (++this.#parts > MOST_PARTS)
      throw new OversizedReply(`sent more than ${MOST_PARTS} parts in one answer`);
  }
}

/** The message completes a sentence about the model. */
export class OversizedReply extends Error {}
