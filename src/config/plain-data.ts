/**
 * What a JavaScript configuration says, as plain data: getters are read once, inherited members and those that are
 * undefined are dropped, nothing is shared with the module. What JSON cannot say (a function) stays, to be reported.
 */
export function plainData(value: unknown, ancestors: readonly unknown[] = []): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (ancestors.includes(value)) throw new Error('the configuration refers to itself');
  const line = [...ancestors, value];
  if (Array.isArray(value)) return value.map((member: unknown) => plainData(member, line));
  // fromEntries defines members, so "__proto__" stays a key like any other.
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, plainData(member, line)]),
  );
}
