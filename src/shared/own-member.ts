import { isObject } from './is-object.ts';

/** An object's own member; undefined for anything else. */
export function ownMember(value: unknown, key: string): unknown {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}
