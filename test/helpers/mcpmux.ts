import { pathToFileURL } from 'node:url';
import { MANAGEMENT_TOOLS, type Mux } from './management.ts';
import { serverPath, type Project } from './temp-project.ts';

/** A program that runs one test server until `become` replaces it with another. */
export function swappable(project: Project, name: string) {
  const become = (other: string): string =>
    project.write('server.mjs', `import ${JSON.stringify(pathToFileURL(serverPath(other)).href)};\n`);
  return { become, server: { command: process.execPath, args: [become(name)] } };
}

export const ownTools = async (mux: Mux): Promise<string[]> =>
  (await mux.tools()).filter((name) => !MANAGEMENT_TOOLS.includes(name));
