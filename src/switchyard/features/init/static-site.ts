import { filesOf } from '../../records/project/project-files.ts';
import type { DetectedService, DetectInput } from './detect.ts';
import { pythonOf } from './python.ts';

/** Serves the files with a program that nearly every machine has. The last resort, so it always finds something. */
export function detectStatic(input: DetectInput): DetectedService {
  const files = filesOf(input.root);
  const directory = files.isFile('index.html')
    ? undefined
    : ['public', 'site', 'www', 'docs'].find((each) => files.isFile(`${each}/index.html`));
  const { command, found } = pythonOf(input);
  const what =
    directory === undefined
      ? 'No known framework was found, so the files of this directory are'
      : `${directory}/ has an index.html, so its files are`;
  return {
    name: 'web',
    command: `${command} -m http.server {port} --bind {host}${directory === undefined ? '' : ` --directory ${directory}`}`,
    port: 8000,
    reason: `${what} served by Python.${found ? '' : ' Python was not found on this machine: replace the command with your own.'}`,
  };
}
