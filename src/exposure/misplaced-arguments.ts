import { isObject } from '../shared/is-object.ts';
import { Client, type JsonObject } from '../protocol/index.ts';
import type { Message } from '../wire/index.ts';

/**
 * The arguments that a call has next to `args` instead of inside it; undefined if `args` has some, or if none of them
 * look like arguments of the tool with this schema. `own` are the members that the exposure uses.
 */
export function misplacedArguments(
  request: Message,
  own: ReadonlySet<string>,
  schema: unknown,
): JsonObject | undefined {
  if (hasArguments(request) || !request.has(Client.arguments)) return undefined;
  const value = request.value(Client.arguments);
  const given = Object.entries(isObject(value) ? value : {});
  // A host may add members of its own, which it marks with an underscore.
  const others = given.filter(([key]) => !own.has(key) && !key.startsWith('_'));
  const [first] = others;
  if (first === undefined) return undefined;
  const { properties, required } = isObject(schema) ? schema : {};
  const known = isObject(properties) ? properties : undefined;
  if (others.length === 1 && WRAPPERS.has(first[0]) && isObject(first[1]) && known?.[first[0]] === undefined)
    return first[1];
  const isMeant =
    known === undefined ||
    others.some(([key]) => Object.hasOwn(known, key)) ||
    (Array.isArray(required) && required.length > 0);
  return isMeant ? Object.fromEntries(others) : undefined;
}

/** Checked for every call, so it does not parse the arguments, which may be long. */
function hasArguments(request: Message): boolean {
  if (!request.has(Client.args)) return false;
  const length = request.end(Client.args) - request.start(Client.args);
  return length > 'null'.length || !NONE.has(request.text(Client.args) ?? '');
}

const NONE: ReadonlySet<string> = new Set(['null', '{}']);
/** The names that models sometimes use for `args`. */
const WRAPPERS: ReadonlySet<string> = new Set(['arguments', 'params', 'parameters', 'input']);

/** The corrected call, ready to be copied; long values are left out. */
export function correctedCall(own: JsonObject, args: JsonObject): string {
  const whole = JSON.stringify({ ...own, args });
  if (whole.length <= MAX_SHOWN) return whole;
  const names = Object.keys(args).slice(0, MAX_NAMES);
  const shortened = names.map((name): [string, string] => [name.slice(0, MAX_SHOWN / MAX_NAMES), '…']);
  return JSON.stringify({ ...own, args: Object.fromEntries(shortened) });
}

const MAX_SHOWN = 2000;
const MAX_NAMES = 20;
