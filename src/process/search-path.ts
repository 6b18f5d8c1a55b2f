import { delimiter } from 'node:path';

/** The directories of a PATH. An empty element would mean the working directory, which may be anybody's project. */
export function directoriesIn(
  path: string | undefined,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const directories =
    platform === 'win32'
      ? // Within quotes, a semicolon is part of a name.
        Array.from((path ?? '').matchAll(/(?:"[^"]*"?|[^";])+/g), ([each]) => each.replaceAll('"', '').trim())
      : (path ?? '').split(delimiter);
  return directories.filter((directory) => directory !== '');
}

/** The environment for a program that is to be started: its PATH has no empty element. */
export function withSafePath<T extends NodeJS.ProcessEnv>(env: T): T {
  // On Windows, an empty element means nothing, and the variable may be spelled differently.
  if (process.platform === 'win32') return env;
  const { PATH } = env;
  const directories = directoriesIn(PATH);
  if (PATH === undefined || (PATH !== '' && PATH === directories.join(delimiter))) return env;
  const safe: NodeJS.ProcessEnv = { ...env, PATH: directories.join(delimiter) };
  // An empty PATH also means the working directory; without a PATH, the system's directories are searched.
  if (directories.length === 0) delete safe.PATH;
  return safe as T;
}

/** Our own PATH after directories of the system, so that no tool is taken from a project. */
export function pathBehind(...system: readonly string[]): string {
  return [...system, ...directoriesIn(process.env['PATH'])].join(delimiter);
}
