import { SwitchboardError } from '../shared/errors.ts';
import type { Turns } from '../shared/turns.ts';
import { jsonItems, memberText } from '../wire/index.ts';
import { membersIn } from './json-bytes.ts';

/** A parsed JSON path: any sequence of `.name`, `['name']`, `[3]`, `[-1]`, `[2:5]`, `.*` and `[*]` after `$`. */
export interface ResultPath {
  readonly steps: readonly Step[];
  /** Whether it leads to one value at most. */
  readonly single: boolean;
}

type Step =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'index'; readonly at: number }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined }
  | { readonly kind: 'all' };

/** Reads a path; `$` may be left out. */
export function readResultPath(path: string): ResultPath {
  const trimmed = path.trim();
  const text = trimmed.startsWith('$') ? trimmed.slice(1) : /^[.[]/.test(trimmed) ? trimmed : `.${trimmed}`;
  const steps: Step[] = [];
  for (let at = 0; at < text.length;) {
    STEP.lastIndex = at;
    const found = STEP.exec(text);
    if (path.length > LONGEST_PATH || steps.length === MAX_STEPS || found === null) throw invalid(path);
    steps.push(stepOf(found, path));
    at = STEP.lastIndex;
  }
  return { steps, single: steps.every(({ kind }) => kind === 'member' || kind === 'index') };
}

/** `.name` or `.*`; or in brackets a quoted name, `*`, a slice or an index. */
const STEP =
  /\.(?:(?<dotAll>\*)|(?<name>[^\s.[\]*'"()?@,:]+))|\[\s*(?:(?<all>\*)|"(?<double>(?:[^"\\]|\\.)*)"|'(?<quoted>(?:[^'\\]|\\.)*)'|(?<from>-?\d{1,15})?\s*(?<colon>:)\s*(?<to>-?\d{1,15})?|(?<index>-?\d{1,15}))\s*\]/y;
const LONGEST_PATH = 1000;
const MAX_STEPS = 32;

function stepOf({ groups = {} }: RegExpExecArray, path: string): Step {
  const { dotAll, all, name, double, quoted, from, colon, to, index } = groups;
  if ((dotAll ?? all) !== undefined) return { kind: 'all' };
  if (colon !== undefined) return { kind: 'slice', from: numberIn(from), to: numberIn(to) };
  if (index !== undefined) return { kind: 'index', at: Number(index) };
  if (name !== undefined) return { kind: 'member', name };
  try {
    const json = double ?? (quoted ?? '').replace(/\\'/g, "'").replace(/(?<!\\)"/g, '\\"');
    return { kind: 'member', name: JSON.parse(`"${json}"`) as string };
  } catch {
    throw invalid(path);
  }
}

function numberIn(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits);
}

function invalid(path: string): SwitchboardError {
  return new SwitchboardError(
    'RESULT_SELECTION_INVALID',
    `The JSON path ${JSON.stringify(path.slice(0, 200))} cannot be used.`,
    { hint: `Use members (.name, ['name']), indexes ([3], [-1]), slices ([2:5]) and wildcards (.*, [*]).` },
  );
}

/** The texts of the values that a path leads to in valid JSON, as they were written. */
export async function* valuesAt(
  text: string,
  steps: readonly Step[],
  turns: Turns,
): AsyncGenerator<string, void, undefined> {
  const pause = turns.next();
  if (pause) await pause;
  const [step, ...rest] = steps;
  if (step === undefined) {
    yield text;
    return;
  }
  for await (const value of follow(text, step, turns)) yield* valuesAt(value, rest, turns);
}

async function* follow(text: string, step: Step, turns: Turns): AsyncGenerator<string, void, undefined> {
  const lead = text.trimStart().charAt(0);
  if (lead === '{') {
    if (step.kind === 'member') {
      const value = memberText(text, step.name);
      if (value !== undefined) yield value;
    } else if (step.kind === 'all') {
      // One at a time: there may be a million.
      const bytes = Buffer.from(text.trimStart());
      for (const { start, end } of membersIn(bytes, 0)) yield bytes.toString('utf8', start, end);
    }
  } else if (lead === '[') {
    if (step.kind === 'all') yield* jsonItems(text);
    else if (step.kind !== 'member') yield* itemsWithin(text, step, turns);
  }
}

async function* itemsWithin(
  text: string,
  step: Extract<Step, { readonly kind: 'index' | 'slice' }>,
  turns: Turns,
): AsyncGenerator<string, void, undefined> {
  const given = step.kind === 'index' ? [step.at] : [step.from ?? 0, step.to ?? 0];
  // Only positions counted from the end need the length.
  const length = given.some((place) => place < 0) ? await countItems(text, turns) : 0;
  const place = (at: number): number => (at < 0 ? length + at : at);
  const from = place(step.kind === 'index' ? step.at : (step.from ?? 0));
  const to = step.kind === 'index' ? from + 1 : step.to === undefined ? Infinity : place(step.to);
  let at = 0;
  for (const item of jsonItems(text)) {
    if (at >= to) return;
    if (at >= from) yield item;
    at++;
    const pause = turns.next();
    if (pause) await pause;
  }
}

async function countItems(text: string, turns: Turns): Promise<number> {
  let count = 0;
  for (const items = jsonItems(text); items.next().done !== true; count++) {
    const pause = turns.next();
    if (pause) await pause;
  }
  return count;
}
