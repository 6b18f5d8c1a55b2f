import { isObject } from './is-object.ts';

/** A member of an object that has it itself; undefined for anything else. */
export function ownMember(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
