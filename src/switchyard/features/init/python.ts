import { findExecutable } from '../../../process/index.ts';
import { filesOf } from '../../records/project/project-files.ts';
import type { DetectInput } from './detect.ts';

/** How to run Python in a project. */
export interface Python {
  readonly command: string;
  /** The virtual environment of the command, which git does not contain. */
  readonly link: readonly string[];
  /** Whether Python was found on this machine. */
  readonly found: boolean;
}

/** The project's own tool, otherwise its virtual environment, otherwise the system's Python. */
export function pythonOf(input: DetectInput): Python {
  const files = filesOf(input.root);
  const tool = TOOLS.find(([lockfile]) => files.has(lockfile));
  if (tool !== undefined) return { command: `${tool[1]} run python`, link: [], found: true };
  for (const directory of ['.venv', 'venv']) {
    const command = [`${directory}/bin/python`, `${directory}/Scripts/python.exe`].find((file) =>
      files.isFile(file),
    );
    if (command !== undefined) return { command, link: [directory], found: true };
  }
  const command = ['python3', 'python'].find((each) =>
    findExecutable(each, { cwd: input.root, path: input.path }),
  );
  return { command: command ?? 'python3', link: [], found: command !== undefined };
}

const TOOLS = [
  ['uv.lock', 'uv'],
  ['poetry.lock', 'poetry'],
  ['pdm.lock', 'pdm'],
  ['Pipfile', 'pipenv'],
] as const;

/** Without it, Python buffers output when stdout is not a terminal, and the log lags behind. */
export const UNBUFFERED = { PYTHONUNBUFFERED: '1' } as const;
