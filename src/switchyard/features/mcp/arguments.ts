import type { JsonObject } from '../../../protocol/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';

/** An argument of a tool: its part of the schema, and how it is validated. */
export type ArgumentSpec = { readonly description: string; readonly required?: true } & (
  | { readonly kind: 'text' | 'texts' | 'flag' }
  | {
      readonly kind: 'number';
      readonly least: number;
      readonly most: number;
      /** The default. */
      readonly usual: number;
    }
);

export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec>>;

/** The validated arguments of a call. */
export interface CheckedArguments {
  /** Undefined if not given. */
  text(key: string): string | undefined;
  /** The value of a required argument; empty for an optional one that is missing. */
  required(key: string): string;
  /** Empty if not given. */
  texts(key: string): readonly string[];
  flag(key: string): boolean;
  number(key: string): number;
}

/** The schema of all arguments of a tool. */
export function schemaOf(known: ArgumentSpecs): JsonObject {
  const required = Object.keys(known).filter((key) => known[key]?.required);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(known).map(([key, each]) => [key, propertyOf(each)])),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
}

function propertyOf(argument: ArgumentSpec): JsonObject {
  const { description } = argument;
  switch (argument.kind) {
    case 'text':
      return { type: 'string', description };
    case 'texts':
      return { type: 'array', items: { type: 'string' }, description };
    case 'flag':
      return { type: 'boolean', description };
    case 'number': {
      const { least, most, usual } = argument;
      return { type: 'integer', minimum: least, maximum: most, default: usual, description };
    }
  }
}

/**
 * Validates the arguments of a call. An empty string counts as missing, and so does null, which some clients send for
 * every omitted argument. Errors name the argument.
 */
export function readArguments(given: JsonObject, known: ArgumentSpecs): CheckedArguments {
  const unknown = Object.keys(given).filter((key) => !Object.hasOwn(known, key));
  const [first] = unknown;
  if (first !== undefined) {
    const names = unknown.map((key) => key.slice(0, 100)).join(', ');
    throw wrong(`unexpected argument(s): ${names}`, didYouMean(first, Object.keys(known)));
  }
  const values = new Map<string, unknown>();
  for (const [key, argument] of Object.entries(known)) {
    const value = given[key];
    const isGiven = value !== undefined && value !== null && !(argument.kind === 'text' && value === '');
    if (isGiven) check(key, value, argument);
    else if (argument.required) throw wrong(`${key} is required`);
    if (isGiven) values.set(key, value);
    else if (argument.kind === 'number') values.set(key, argument.usual);
  }
  const text = (key: string): string | undefined => values.get(key) as string | undefined;
  return {
    text,
    required: (key) => text(key) ?? '',
    texts: (key) => (values.get(key) ?? []) as readonly string[],
    flag: (key) => values.get(key) === true,
    number: (key) => values.get(key) as number,
  };
}

function check(key: string, value: unknown, argument: ArgumentSpec): void {
  switch (argument.kind) {
    case 'text':
      if (typeof value !== 'string') throw wrong(`${key} must be a string`);
      break;
    case 'texts':
      if (!Array.isArray(value) || !value.every((each) => typeof each === 'string'))
        throw wrong(`${key} must be an array of strings`);
      break;
    case 'flag':
      if (typeof value !== 'boolean') throw wrong(`${key} must be a boolean`);
      break;
    case 'number': {
      const { least, most } = argument;
      if (typeof value !== 'number' || !Number.isInteger(value)) throw wrong(`${key} must be an integer`);
      if (value < least || value > most) throw wrong(`${key} must be between ${least} and ${most}`);
    }
  }
}

function wrong(message: string, hint?: string): SwitchboardError {
  return new SwitchboardError('ARGS_INVALID', message, { hint });
}
