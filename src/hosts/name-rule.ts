import { SwitchboardError } from '../shared/errors.ts';

/** The names that an entry may have. */
export interface NameRule {
  readonly pattern: RegExp;
  /** A description of the pattern, to follow "the name of an entry has". */
  readonly allows: string;
  /** Names that the host reserves. Default: none. */
  readonly reserved?: readonly string[];
}

/** The rule of most hosts; the others are stricter. */
export const USUAL_NAMES: NameRule = {
  pattern: /^[A-Za-z0-9_-]+$/,
  allows: 'only letters, digits, "-" and "_"',
};

/** The host puts the name before that of each tool, and the two together may have 64 characters. */
const LONGEST_NAME = 32;

/** Throws USAGE for a name that the host does not accept. */
export function refuseName(name: string, { title, names }: { title: string; names: NameRule }): void {
  const refused = (why: string): SwitchboardError =>
    new SwitchboardError('USAGE', `${title} does not accept the name ${JSON.stringify(name)}: ${why}.`, {
      hint: 'Choose another one with --name, for example --name tools.',
    });
  if (!names.pattern.test(name)) throw refused(`names may contain ${names.allows}`);
  if (names.reserved?.includes(name) === true) throw refused('it is reserved');
  if (name.length > LONGEST_NAME) throw refused(`it is longer than ${LONGEST_NAME} characters`);
}
