import { delimiter } from 'node:path';

/** The directories of a PATH. An empty element would mean the working directory, which may be anybody's project. */
export function directoriesIn(
  path: string | undefined,
  platform: NodeJS.Platform = process.platform,
): string[] {
  const directories =
    platform === 'win32'
      ? // Between quotes, a semicolon is part of a name.
        Array.from((path ?? '').matchAll(/(?:"[^"]*"?|[^";])+/g), ([each]) => each.replaceAll('"', '').trim())
      : (path ?? '').split(delimiter);
  return directories.filter((directory) => directory !== '');
}

/** The environment for a program to start: with a PATH that has no empty element. */
export function withSafePath<T extends NodeJS.ProcessEnv>(env: T): T {
  // There, an empty element means nothing, and the variable may have another spelling.
  if (process.platform === 'win32') return env;
  const { PATH } = env;
  const directories = directoriesIn(PATH);
  if (PATH === undefined || (PATH !== '' && PATH === directories.join(delimiter))) return env;
  const safe: NodeJS.ProcessEnv = { ...env, PATH: directories.join(delimiter) };
  // An empty PATH means the working directory too; without one, the directories of the system are searched.
  if (directories.length === 0) delete safe.PATH;
  return safe as T;
}

/** Our own PATH behind directories of the system, so that no tool is taken from a project. */
export function pathBehind(...system: readonly string[]): string {
  return [...system, ...directoriesIn(process.env['PATH'])].join(delimiter);
}
