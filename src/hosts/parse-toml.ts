import { parse, TomlError } from 'smol-toml';
import { isTooDeep, MAX_NESTING, TOO_DEEP } from '../shared/depth.ts';
import { TextFault } from './container.ts';

/** The values of a TOML text. Throws TextFault. */
export function parseHostToml(text: string): Readonly<Record<string, unknown>> {
  try {
    const value = parse(text, { integersAsBigInt: 'asNeeded', maxDepth: MAX_NESTING });
    if (isTooDeep(value)) throw new TextFault(TOO_DEEP, 1, 1);
    return plain(value) as Record<string, unknown>;
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    // The rest of the message shows the line, which may contain a secret.
    const [line = ''] = error.message.split('\n');
    throw new TextFault(line.replace(/^Invalid TOML document: /, ''), error.line, error.column);
  }
}

/** The parser's tables have no prototype and would never equal ours. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}
