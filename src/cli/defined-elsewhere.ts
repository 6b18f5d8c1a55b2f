import type { LoadedConfig } from '../config/index.ts';

/** The file that defines a server of this name, where that is not the configuration itself. */
export function definedElsewhere(name: string, { file, servers }: LoadedConfig): string | undefined {
  const origin = servers.find((server) => server.name === name)?.origin;
  return origin === undefined || origin.file === file ? undefined : origin.file;
}
