import { accessSync, constants } from 'node:fs';
import { join, resolve } from 'node:path';
import { homeDirectory } from '../shared/paths.ts';
import type { ServerCandidate } from './candidate.ts';
import type { SandboxDefinition } from './definition.ts';
import type { ReferenceFiller } from './filler.ts';
import type { Environment } from './interpolate.ts';
import type { StdioServer } from './schema/config.ts';

interface SandboxContext {
  readonly env: Environment;
  /** Default: the current system. */
  readonly platform?: NodeJS.Platform | undefined;
}

/**
 * The configured sandbox, with references filled in. If it cannot be created, the server is unusable: it never starts
 * without it.
 */
export function sandboxOf(
  candidate: ServerCandidate,
  given: StdioServer['sandbox'],
  filler: ReferenceFiller,
  { env, platform = process.platform }: SandboxContext,
): SandboxDefinition | undefined {
  if (given === undefined || given === false) return undefined;
  const at = (...path: (string | number)[]) => ({
    file: candidate.file,
    path: [...candidate.path, 'sandbox', ...path],
  });
  const bwrap = platform === 'linux' ? findBwrap(env) : undefined;
  if (bwrap === undefined) {
    const why =
      platform === 'linux'
        ? 'its sandbox needs bwrap, which is not installed (Debian: apt install bubblewrap, Fedora: dnf install bubblewrap)'
        : 'sandboxes need Linux and bwrap; docs/guide/sandbox.md shows what to use instead';
    filler.fail(at(), why);
    return undefined;
  }
  const { write, read, hide, network = false } = given === true ? {} : given;
  const paths = (key: 'write' | 'read' | 'hide', texts: readonly string[] = []): string[] =>
    texts.map((text, index) => {
      const filled = filler.fill(text, at(key, index));
      return resolve(
        candidate.directory,
        filled.replace(/^~(?=\/|$)/, () => homeDirectory()),
      );
    });
  return {
    bwrap,
    write: paths('write', write),
    read: paths('read', read),
    hide: paths('hide', hide),
    network,
  };
}

/** The system's own one first, so that a project cannot put another one on the PATH. */
function findBwrap(env: Environment): string | undefined {
  const directories = [
    '/usr/bin',
    '/bin',
    ...(env.PATH ?? '').split(':').filter((each) => each.startsWith('/')),
  ];
  return directories
    .map((directory) => join(directory, 'bwrap'))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
