import { detectGo } from './go-project.ts';
import { detectNodeEntry, detectNodeScript } from './node-project.ts';
import { detectPython } from './python-project.ts';
import { detectRails } from './rails-project.ts';
import { detectStatic } from './static-site.ts';

/** How a project is probably started. */
export interface DetectedService {
  readonly name: 'web';
  readonly command: string;
  /** The usual port of the project. */
  readonly port: number;
  /** What was found, as a sentence. */
  readonly reason: string;
  /** Files outside git that the command needs. Default none. */
  readonly link?: readonly string[];
  /** What else a new worktree needs before the command can run, as a sentence. */
  readonly worktreeNote?: string;
  /** Whether it rejects its named address and needs a rewritten Host header. Default false. */
  readonly refusesNames?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** In seconds, if the default is too short. */
  readonly readyTimeout?: number;
}

/** The directory of a project, and the PATH of its programs. */
export interface DetectInput {
  readonly root: string;
  readonly path: string | undefined;
}

/**
 * Detects the service of a project by the first match. A `dev` script is the clearest sign. `start` may serve an old
 * build, so it is a fallback; serving the files of the directory is the last resort.
 */
export function detectService(input: DetectInput): DetectedService {
  return (
    detectNodeScript(input, ['dev']) ??
    detectRails(input) ??
    detectPython(input) ??
    detectGo(input) ??
    detectNodeScript(input, ['start', 'serve']) ??
    detectNodeEntry(input) ??
    detectStatic(input)
  );
}
