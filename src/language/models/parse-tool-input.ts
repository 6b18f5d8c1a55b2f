import { isObject } from '../../shared/is-object.ts';
import type { JsonObject } from '../../protocol/index.ts';

/** The arguments that a model wrote for a call: an object, or what is wrong with them. */
export function parseToolInput(written: unknown): { input: JsonObject | undefined; malformed?: string } {
  // Models often call a tool without arguments with nothing at all.
  if (written === undefined || written === null || written === '') return { input: {} };
  if (isObject(written)) return { input: written };
  if (typeof written !== 'string') return noObject();
  try {
    const value: unknown = JSON.parse(written);
    return isObject(value) ? { input: value } : noObject();
  } catch {
    return { input: undefined, malformed: 'The arguments are not valid JSON.' };
  }
}

function noObject(): { input: undefined; malformed: string } {
  return { input: undefined, malformed: 'The arguments are not a JSON object.' };
}
