import { isObject } from '../shared/is-object.ts';
import type { Note, ConfigProblem } from './problem.ts';

/** A problem; `unknownKey` marks one that leaving the key out solves. */
export interface ExplainedProblem extends ConfigProblem {
  readonly unknownKey?: true;
}

export interface KnownPart {
  /** The value without unknown keys. */
  readonly value: unknown;
  /** The problems that remain. */
  readonly problems: readonly ConfigProblem[];
  /** One note for each key that was left out. */
  readonly notes: readonly Note[];
}

/** Leaves out keys that the schema does not know, each with a note, so that a typo costs only one setting. */
export async function withoutUnknownKeys(
  given: unknown,
  isRight: (value: unknown) => boolean,
  explain: (value: unknown) => Promise<readonly ExplainedProblem[]>,
): Promise<KnownPart> {
  const notes: Note[] = [];
  let value = given;
  while (!isRight(value)) {
    const problems = await explain(value);
    const unknown = problems.filter(({ unknownKey }) => unknownKey);
    if (unknown.length === 0) {
      // If the quick check and the explanation ever disagree, the stricter one counts.
      return {
        value,
        notes,
        problems: problems.length > 0 ? problems : [{ path: [], message: 'is not valid' }],
      };
    }
    for (const { path, message } of unknown) {
      notes.push({ path, message, level: 'warn' });
      value = without(value, path);
    }
  }
  return { value, notes, problems: [] };
}

function without(value: unknown, [step, ...rest]: ConfigProblem['path']): unknown {
  if (Array.isArray(value))
    return value.map((member, at) => (at === step ? without(member, rest) : (member as unknown)));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => key !== step || rest.length > 0);
  // fromEntries defines members, so "__proto__" is an ordinary key.
  return Object.fromEntries(
    kept.map(([key, member]) => [key, key === step ? without(member, rest) : member]),
  );
}
