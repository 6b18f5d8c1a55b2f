import { filesOf, type ProjectFiles } from '../../records/project/project-files.ts';
import type { DetectedService, DetectInput } from './detect.ts';

export function detectGo({ root }: DetectInput): DetectedService | undefined {
  const files = filesOf(root);
  if (!files.isFile('go.mod')) return undefined;
  const program = findProgram(files);
  if (program === undefined) return undefined;
  return {
    name: 'web',
    command: `go run ${program}`,
    port: 8080,
    reason: `go.mod and a main package in ${program} were found. It must listen on the port in the variable PORT.`,
    // The first run compiles everything.
    readyTimeout: 120,
  };
}

/** The root, or the program below cmd/; if there are several, the one named like a server. */
function findProgram(files: ProjectFiles): string | undefined {
  if (isMain(files, '.')) return '.';
  const programs = files
    .names('cmd')
    .filter((name) => /^[\w.-]+$/.test(name) && isMain(files, `cmd/${name}`));
  const chosen =
    programs.length === 1 ? programs[0] : programs.find((name) => /^(?:server|web|api|app)$/.test(name));
  return chosen === undefined ? undefined : `./cmd/${chosen}`;
}

function isMain(files: ProjectFiles, directory: string): boolean {
  return files
    .names(directory)
    .some(
      (name) =>
        name.endsWith('.go') &&
        !name.endsWith('_test.go') &&
        /^package main\b/m.test(files.text(`${directory}/${name}`)),
    );
}
