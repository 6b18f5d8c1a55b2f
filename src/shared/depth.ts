/** Deeper than any configuration. Beyond this, recursion over a value would overflow the stack. */
export const MAX_NESTING = 100;
export const TOO_DEEP = `nested deeper than ${MAX_NESTING} levels`;

/** Whether a parsed value is nested deeper than that. */
export function isTooDeep(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isTooDeep(member, levels - 1));
}
