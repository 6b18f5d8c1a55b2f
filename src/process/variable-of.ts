/**
 * A variable of an environment; undefined if it is not set. Windows does not distinguish `Path` from `PATH`: if both
 * are set, a program gets the one that sorts first.
 */
export function variableOf(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  ignoresCase: boolean,
): string | undefined {
  if (!ignoresCase) return env[name];
  const wanted = name.toUpperCase();
  const key = Object.keys(env)
    .sort()
    .find((each) => each.toUpperCase() === wanted);
  return key === undefined ? undefined : env[key];
}
