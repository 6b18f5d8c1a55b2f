import { SwitchboardError } from '../../../shared/errors.ts';
import { splitWords } from '../../records/shell-words.ts';
import { peerFacts, type PeerService } from './peers.ts';

export interface Rendered {
  /** At least one word, and the first is not empty. */
  readonly argv: readonly string[];
  /** Unknown placeholders, which were left unchanged. */
  readonly unknown: readonly string[];
}

/**
 * Fills in the placeholders of a command. Splits it first and fills in each word afterwards, so that a value can never
 * add a word or close a quote, whatever the name of a branch.
 */
export function renderCommand(
  service: string,
  template: string,
  values: ReadonlyMap<string, string>,
): Rendered {
  const unknown = new Set<string>();
  const argv = wordsOf(service, template).map((word) =>
    word.replace(PLACEHOLDER, (text, name: string) => {
      const value = values.get(name);
      if (value === undefined) unknown.add(text);
      return value ?? text;
    }),
  );
  return { argv, unknown: [...unknown] };
}

/** A name in braces. */
const PLACEHOLDER = /\{([A-Za-z_][\w-]*)\}/g;

function wordsOf(service: string, template: string): readonly string[] {
  let words: readonly string[];
  try {
    words = splitWords(template);
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    throw new SwitchboardError(
      error.code,
      `The command of ${service} cannot be split into words. ${error.message}`,
      {
        hint: error.hint,
        cause: error,
      },
    );
  }
  if ((words[0] ?? '') !== '') return words;
  throw new SwitchboardError('COMMAND_SYNTAX', `The command of ${service} names no program.`, {
    hint: `Write services.${service}.command as the program and its arguments.`,
  });
}

export interface PlaceholderSources {
  /** The placeholders of every command, for example `port`. */
  readonly base: Readonly<Record<string, string>>;
  /** The environment of the profile; `POSTGRES_PORT` becomes `{postgres_port}`. */
  readonly profile: Readonly<Record<string, string>>;
  readonly peers: readonly PeerService[];
}

/**
 * All placeholders of a command. If a name occurs twice, peers override the profile, and the profile overrides the
 * base.
 */
export function placeholders({ base, profile, peers }: PlaceholderSources): ReadonlyMap<string, string> {
  const values = new Map(Object.entries(base));
  for (const [name, value] of Object.entries(profile)) values.set(name.toLowerCase(), value);
  for (const [service, fact, value] of peerFacts(peers)) {
    for (const name of [service, service.replaceAll('-', '_')]) values.set(`${name}_${fact}`, value);
  }
  return values;
}
