import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { RESULT_SCHEME, type ResultSelection } from './notices.ts';

/** Which part of which result is wanted. */
export interface WantedPart {
  readonly id: string;
  readonly selection: ResultSelection;
}

const SELECTORS = ['lines', 'chars', 'pattern', 'path'] as const;

/** Reads the arguments of the action `read`. Models sometimes put the arguments of a tool into `args`. */
export function partInArguments(value: unknown): WantedPart {
  const outer = isObject(value) ? value : {};
  const given = isObject(outer.args) ? { ...outer, ...outer.args } : outer;
  const { result } = given;
  if (typeof result !== 'string' || result === '')
    throw invalid(
      '"read" needs the ID of a result.',
      'For example {"action":"read","result":"…","lines":"1-100"}.',
    );
  const selection: Record<string, string> = {};
  for (const name of SELECTORS) {
    const wanted = given[name];
    if (wanted === undefined || wanted === null || wanted === '') continue;
    if (typeof wanted !== 'string' && typeof wanted !== 'number')
      throw invalid(`"${name}" must be a string.`, 'For example "lines":"1-100".');
    selection[name] = String(wanted);
  }
  return { id: idIn(result) ?? result, selection };
}

/** Reads a URI; undefined if it is not one of ours. */
export function partInUri(uri: string): WantedPart | undefined {
  const id = idIn(uri);
  if (id === undefined) return undefined;
  const query = uri.indexOf('?');
  const selection: Record<string, string> = {};
  for (const part of query === -1 ? [] : uri.slice(query + 1).split('&')) {
    const [name, value] = decodedPair(part);
    const known = SELECTORS.find((each) => each === name);
    if (known !== undefined && value !== '') selection[known] = value;
  }
  return { id, selection };
}

function idIn(uri: string): string | undefined {
  if (!uri.startsWith(RESULT_SCHEME)) return undefined;
  return /^([0-9a-f]{10})\/?(?:\?|$)/.exec(uri.slice(RESULT_SCHEME.length))?.[1];
}

/** A `+` stays a plus, not a space: patterns often contain it. */
function decodedPair(part: string): [string, string] {
  const [name = '', ...value] = part.split('=');
  const text = value.join('=');
  try {
    return [name, decodeURIComponent(text)];
  } catch {
    return [name, text];
  }
}

/** A range such as `100-200`, `100-`, `-50` (the last 50) or `7`, as positions from 0, excluding the end. */
export function rangeIn(text: string, name: string, length: number): readonly [number, number] {
  const found = /^\s*(\d{0,15})\s*(-?)\s*(\d{0,15})\s*$/.exec(text);
  const [, first = '', dash = '', last = ''] = found ?? [];
  if (first === '' && last === '')
    throw invalid(
      `"${name}":${JSON.stringify(text.slice(0, 50))} is no range.`,
      `Use for example "100-200", "100-" or "-50".`,
    );
  const from = first === '' ? Math.max(0, length - Number(last)) : Math.max(0, Number(first) - 1);
  const to = first === '' || (dash !== '' && last === '') ? length : dash === '' ? from + 1 : Number(last);
  if (from >= length || to <= from)
    throw invalid(
      `There are only ${name} 1-${length}, and "${text.trim().slice(0, 50)}" is none of them.`,
      undefined,
    );
  return [from, Math.min(to, length)];
}

export function invalid(message: string, hint: string | undefined): SwitchboardError {
  return new SwitchboardError('RESULT_SELECTION_INVALID', message, { hint });
}
