import { detectGo } from './go-project.ts';
import { detectNodeEntry, detectNodeScript } from './node-project.ts';
import { detectPython } from './python-project.ts';
import { detectRails } from './rails-project.ts';
import { detectStatic } from './static-site.ts';

/** How a project seems to be started. */
export interface DetectedService {
  readonly name: 'web';
  readonly command: string;
  /** The port that people who work on it are used to. */
  readonly port: number;
  /** What was seen, as a sentence. */
  readonly reason: string;
  /** What git does not carry and the command needs. Default none. */
  readonly link?: readonly string[];
  /** What else a new worktree needs before the command can run there, as a sentence. */
  readonly worktreeNote?: string;
  /** Whether it refuses its named address, so that it has to be asked as if by its own. Default false. */
  readonly refusesNames?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** In seconds, where the usual time is too short. */
  readonly readyTimeout?: number;
}

/** Where a project stands, and the PATH on which its programs are looked for. */
export interface DetectInput {
  readonly root: string;
  readonly path: string | undefined;
}

/**
 * The service of a project, by the first sign that is found. A `dev` script is the clearest one. `start` may serve what
 * was built long ago, so it counts only when nothing else is there; a directory of files can always be served.
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
