import { posix, win32 } from 'node:path';
import type { References, HostEnvironment } from './host.ts';

/** A host's text in the form of our own configuration. */
export interface ConvertedText {
  readonly text: string;
  /** The variables it refers to, without those that have a default. */
  readonly variables: readonly string[];
  /** What the user should know about it. */
  readonly notes: readonly string[];
}

export interface ReferenceContext {
  readonly references: References;
  readonly where: HostEnvironment;
  /** The value of `${workspaceFolder}`; undefined if unknown. */
  readonly project: string | undefined;
}

/** Why a text cannot be converted; the message follows "it". */
export class ConversionError extends Error {}

/**
 * Turns the references that the host fills in into ours, `${NAME}`. Literal text stays literal. Throws ConversionError.
 */
export function convertText(text: string, context: ReferenceContext): ConvertedText {
  const variables: string[] = [];
  const notes: string[] = [];
  let result = '';
  let at = 0;
  for (const match of text.matchAll(patternOf(context))) {
    const literal = text.slice(at, match.index);
    const reference = converted(match, context, notes);
    // In our configuration, `$${` is a literal `${`.
    if (literal.endsWith('$') && reference.text.startsWith('${'))
      throw new ConversionError('has a "$" directly before a reference');
    result += escaped(literal) + reference.text;
    if (reference.variable !== undefined) variables.push(reference.variable);
    at = match.index + match[0].length;
  }
  return { text: result + escaped(text.slice(at)), variables, notes };
}

const BRACES = String.raw`\$\{(?<name>[A-Za-z_]\w*)(?::-(?<fallback>(?:[^{}]|\$\{[^{}]*\})*))?\}`;
const SHELL = new RegExp(BRACES, 'g');
const SHELL_AND_BARE = new RegExp(`${BRACES}|\\$(?<bare>[A-Za-z_]\\w*)`, 'g');
const SHELL_AND_PERCENT = new RegExp(`${BRACES}|\\$(?<bare>[A-Za-z_]\\w*)|%(?<percent>[A-Za-z_]\\w*)%`, 'g');
const EDITOR = /\$\{(?<word>[^{}]*)\}/g;
const CURLY = /\{(?<kind>env|file):(?<target>[^{}]+)\}/g;
const NEVER = /(?!)/g;

function patternOf({ references, where }: ReferenceContext): RegExp {
  switch (references) {
    case 'none':
      return NEVER;
    case 'shell':
      return SHELL;
    case 'shell-and-bare':
      return where.platform === 'win32' ? SHELL_AND_PERCENT : SHELL_AND_BARE;
    case 'editor':
      return EDITOR;
    case 'braces':
      return CURLY;
  }
}

interface Reference {
  readonly text: string;
  readonly variable?: string;
}

function converted({ groups = {} }: RegExpMatchArray, context: ReferenceContext, notes: string[]): Reference {
  const { name = '', fallback, bare, percent, word, kind, target } = groups;
  if (kind === 'file')
    throw new ConversionError(`refers to the file ${target ?? ''}; use an environment variable instead`);
  if (target !== undefined && !VARIABLE.test(target)) throw new ConversionError(`refers to {env:${target}}`);
  if (word !== undefined) return editorReference(word, context, notes);
  if (fallback !== undefined) return { text: `\${${name}:-${fallback}}` };
  return referenceTo(bare ?? percent ?? target ?? name);
}

const VARIABLE = /^[A-Za-z_]\w*$/;

function referenceTo(variable: string): Reference {
  return { text: `\${${variable}}`, variable };
}

function editorReference(word: string, context: ReferenceContext, notes: string[]): Reference {
  const [, scheme, name = ''] = /^(\w+):(.*)$/s.exec(word) ?? [];
  const own = editorWord(word, context);
  if (own !== undefined) return own;
  if (scheme === 'input') {
    const variable = variableName(name);
    notes.push(`"${name}" was an editor prompt; set the variable ${variable} instead`);
    return referenceTo(variable);
  }
  // Without a scheme it is not one of their references, but it is never intended literally.
  const variable = scheme === undefined ? word : scheme === 'env' ? name : '';
  if (VARIABLE.test(variable) && !/^workspace/.test(variable)) return referenceTo(variable);
  throw new ConversionError(`refers to \${${word}}, which only the editor can resolve`);
}

/** A value that the editor provides itself; undefined for any other word. */
function editorWord(word: string, { where, project }: ReferenceContext): Reference | undefined {
  const path = where.platform === 'win32' ? win32 : posix;
  switch (word) {
    case 'userHome':
      return referenceTo(where.platform === 'win32' ? 'USERPROFILE' : 'HOME');
    case 'pathSeparator':
    case '/':
      return { text: path.sep };
    case 'workspaceFolder':
    case 'workspaceRoot':
      return project === undefined ? undefined : { text: escaped(project) };
    case 'workspaceFolderBasename':
      return project === undefined ? undefined : { text: escaped(path.basename(project)) };
    default:
      return undefined;
  }
}

/** A name for a variable, made from any words: `api-key` becomes `API_KEY`. */
export function variableName(...words: readonly string[]): string {
  const name = words
    .join('_')
    .replace(/([a-z\d])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z\d]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toUpperCase();
  return /^[A-Z]/.test(name) ? name : `_${name}`;
}

/** A literal text as written in our configuration. */
export function escaped(text: string): string {
  // A function, because `$$` means `$` in a replacement text.
  return text.replaceAll('${', () => '$${');
}
