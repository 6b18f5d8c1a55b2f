import { patternText, plainWord } from './spelling.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The limits of a number, as short texts: `1..10`, `>0`, `%5`; empty if there are none. */
export function numberLimits(schema: Schema): string[] {
  let low = bound(schema['minimum']);
  let high = bound(schema['maximum']);
  // In Draft 4, `exclusiveMinimum: true` modified the minimum.
  const above = schema['exclusiveMinimum'] === true ? low : bound(schema['exclusiveMinimum']);
  const below = schema['exclusiveMaximum'] === true ? high : bound(schema['exclusiveMaximum']);
  if (above !== undefined && (low === undefined || above >= low)) low = undefined;
  if (below !== undefined && (high === undefined || below <= high)) high = undefined;
  const step = bound(schema['multipleOf']);
  return [
    low === undefined && above !== undefined ? `>${above}` : '',
    range(low, high),
    high === undefined && below !== undefined ? `<${below}` : '',
    step === undefined || (step === 1 && schema['type'] === 'integer') ? '' : `%${step}`,
  ];
}

/** A limit worth showing. The bounds of safe integers are not, because generators add them to every integer. */
function bound(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? value : undefined;
}

export function stringLimits(schema: Schema): string[] {
  const format = schema['format'] ?? schema['contentEncoding'];
  const pattern = schema['pattern'];
  return [
    typeof format === 'string' ? plainWord(format) : '',
    // Generators add a long pattern to every known format; the format is clearer.
    typeof pattern === 'string' && typeof format !== 'string' ? patternText(pattern) : '',
    range(schema['minLength'], schema['maxLength']),
  ];
}

export function arrayLimits(schema: Schema): string[] {
  const length = lengthOf(schema['prefixItems'] ?? schema['items']);
  const { minItems, maxItems } = schema;
  const said = length > 0 && (minItems ?? length) === length && (maxItems ?? length) === length;
  return [said ? '' : range(minItems, maxItems), schema['uniqueItems'] === true ? 'unique' : ''];
}

export function range(low: unknown, high: unknown): string {
  const from = bound(low);
  const to = bound(high);
  if (from === undefined && to === undefined) return '';
  return from === to ? `${from}` : `${from ?? ''}..${to ?? ''}`;
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}
