import { parse, TomlError } from 'smol-toml';
import { isTooDeep, MAX_NESTING, TOO_DEEP } from '../../../shared/depth.ts';
import { printableLine } from '../../../shared/printable.ts';
import { configError } from './report.ts';

/** Parses a TOML text; integers as bigint, to distinguish 80 from 80.0. Throws YARD_CONFIG. */
export function parseYardToml(file: string, text: string): Readonly<Record<string, unknown>> {
  const value = parsed(file, text);
  if (!isTooDeep(value)) return value;
  throw configError(file, `the file is ${TOO_DEEP}`, { hint: 'Check that this is the right file.' });
}

function parsed(file: string, text: string): Readonly<Record<string, unknown>> {
  try {
    return parse(text, { integersAsBigInt: true, maxDepth: MAX_NESTING });
  } catch (error) {
    if (!(error instanceof TomlError)) {
      throw configError(file, 'this is not valid TOML', { hint: 'Correct it.', cause: error });
    }
    const [reason = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    const problem = `this is not valid TOML, at column ${error.column} (${printableLine(reason)}): ${excerpt(text, error)}`;
    throw configError(file, problem, { line: error.line, hint: hintFor(reason), cause: error });
  }
}

/** The line of the error, shortened around it. */
function excerpt(text: string, { line, column }: TomlError): string {
  const whole = text.split(/\r?\n/)[line - 1] ?? '';
  const from = Math.max(0, column - 1 - WIDTH / 2);
  const cut = whole.slice(from, from + WIDTH).trim();
  return cut === '' ? 'the line is empty' : printableLine(cut);
}

const WIDTH = 100;

function hintFor(reason: string): string {
  if (/invalid value|numeric|leading zero|date/.test(reason))
    return 'Put text in quotes: command = "npm run dev".';
  if (/redefine/.test(reason)) return 'The key or table is defined twice; keep one of them.';
  if (/unfinished string|control characters/.test(reason)) return 'A closing quote is missing or misplaced.';
  if (/key/.test(reason)) return 'Each line is [table], key = value or # comment.';
  return 'See https://toml.io for the syntax.';
}
