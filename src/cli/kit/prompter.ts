import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { isNodeAtLeast } from '../../shared/node-version.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage } from './arguments.ts';

export interface Choice<T> {
  readonly value: T;
  readonly label: string;
  /** Shown after the label. */
  readonly hint?: string;
}

/** Asks a person at a terminal. Each question throws `Cancelled` on Ctrl-C or Escape. */
export interface Prompter {
  /** Any number of choices, including none. */
  many<T>(question: string, choices: readonly Choice<T>[], chosen: readonly T[]): Promise<T[]>;
  /** One of the choices. */
  one<T>(question: string, choices: readonly Choice<T>[]): Promise<T>;
  confirm(question: string): Promise<boolean>;
}

export class Cancelled extends Error {}

/** The library is loaded only here, so that runs with flags do not wait for it. */
export async function createPrompter(signal: AbortSignal): Promise<Prompter> {
  if (!isNodeAtLeast('20.12'))
    throw usage(
      `Interactive init needs Node 20.12 or newer; this is ${process.versions.node}.`,
      'Update Node, or use --yes and flags (see --help).',
    );
  const { confirm, isCancel, multiselect, select } = await import('./prompts.ts');
  // Some terminals report their width late.
  if (!process.stderr.columns) Object.assign(process.stderr, { columns: 80, rows: 24 });
  // stdout is reserved for the result.
  const common = { input: process.stdin, output: process.stderr, signal };
  const answered = <T>(answer: T): Exclude<T, symbol> => {
    if (isCancel(answer)) throw new Cancelled();
    return answer as Exclude<T, symbol>;
  };
  // Identified by position, because values may be objects.
  const options = (choices: readonly Choice<unknown>[]) =>
    choices.map(({ label, hint }, value) => ({
      value,
      label: printableLine(label),
      ...(hint === undefined ? {} : { hint: printableLine(hint) }),
    }));
  return {
    async many(message, choices, chosen) {
      const initialValues = choices.flatMap(({ value }, at) => (chosen.includes(value) ? [at] : []));
      const answer = await multiselect({
        ...common,
        message,
        options: options(choices),
        initialValues,
        required: false,
      });
      const picked = new Set(answered(answer));
      return choices.filter((_, at) => picked.has(at)).map(({ value }) => value);
    },
    async one(message, choices) {
      const at = answered(await select({ ...common, message, options: options(choices) }));
      const choice = choices[at];
      if (choice === undefined) throw new Error(`There is no choice ${at}.`);
      return choice.value;
    },
    async confirm(message) {
      return answered(await confirm({ ...common, message }));
    },
  };
}

export interface ConfirmOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the question, as a no. */
  readonly signal: AbortSignal;
}

/** Asks a yes-or-no question; anything but a yes is a no, and so is the end of the input. */
export async function confirm(question: string, { input, output, signal }: ConfirmOptions): Promise<boolean> {
  // Read as a line, not key by key, so that Ctrl-C still ends the program.
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
