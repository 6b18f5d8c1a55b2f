import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

export interface ConfirmOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the question, as a no. */
  readonly signal: AbortSignal;
}

/** Asks a question that is answered with yes or no; anything but a yes is a no, and so is the end of the input. */
export async function confirm(question: string, { input, output, signal }: ConfirmOptions): Promise<boolean> {
  // As a line, not key by key: so Ctrl-C still ends the program.
  const reader = createInterface({ input, output, terminal: false });
  try {
    return await new Promise<boolean>((resolve) => {
      reader.once('close', () => resolve(false));
      signal.addEventListener('abort', () => resolve(false), { once: true });
      reader.question(`${question} [y/N] `, (answer) => resolve(/^y(?:es)?$/i.test(answer.trim())));
    });
  } finally {
    reader.close();
  }
}
