import type { LoadedConfig, ServerDefinition } from '../config/index.ts';

/** Where a server of this name is defined that counts now, if that is another file than the given one. */
export function definedElsewhere(
  name: string,
  { servers, unusable }: LoadedConfig,
  file: string | undefined,
): ServerDefinition['origin'] | undefined {
  const origin = [...servers, ...unusable].find((server) => server.name === name)?.origin;
  return origin?.file === file ? undefined : origin;
}
