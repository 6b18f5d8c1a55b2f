import { findExecutable } from '../../process/index.ts';
import type { DetectInput } from './detect.ts';
import { filesOf } from './project-files.ts';

/** How Python is called in a project. */
export interface Python {
  readonly command: string;
  /** The virtual environment that the command lies in, which git does not carry. */
  readonly link: readonly string[];
  /** Whether there is any on this machine, as far as can be told. */
  readonly found: boolean;
}

/** By the project's own tool, else its virtual environment, else the machine's. */
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

/** Without it, what a program prints waits in a buffer while nobody reads the log on a terminal. */
export const UNBUFFERED = { PYTHONUNBUFFERED: '1' } as const;
