import { ascii } from './record.ts';

/** How the script starts this program. */
export type WrapperLaunch =
  /** It is installed on this machine; the script runs it in its own process. */
  | { readonly kind: 'installed'; readonly program: string }
  /** It was downloaded for one run and may be gone tomorrow; the script has it downloaded again. */
  | { readonly kind: 'fetched'; readonly command: string; readonly args: readonly string[] };

/** The command that the script passes to this program, which `main` of the command line handles. */
const WRAPPER_COMMAND = 'language-server';

/** The program that replaces a wrapped server. */
export function wrapperScript(server: string, launch: WrapperLaunch): string {
  const literal = (value: unknown): string => ascii(JSON.stringify(value));
  const installed = launch.kind === 'installed' ? [launch.program] : [];
  const command = launch.kind === 'installed' ? ['mcp-switchboard'] : [launch.command, ...launch.args];
  return `// The server ${literal(server)} behind one tool, natural_language: a model reads CLAUDE.md and uses the tools of the server.
// \`switchboard wrap\` wrote this; \`switchboard unwrap\` puts everything back. The command of the server itself is in
// original/.mcp.json, and the settings of the model are the arguments in .mcp.json.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const script = fileURLToPath(import.meta.url);
const folder = dirname(script);
const args = ['${WRAPPER_COMMAND}', folder, ...process.argv.slice(2)];
// This folder may come from another machine, where the project has Switchboard of its own. On Windows, npm installs
// commands that only a shell can run, with the program beside them.
const places = createRequire(script).resolve.paths('mcp-switchboard');
if (process.platform === 'win32')
  for (const place of (process.env.PATH ?? '').split(delimiter))
    if (place !== '') places.push(join(place, 'node_modules'));
const inPlaces = places.map((place) => join(place, 'mcp-switchboard', 'dist', 'index.js'));
const program = [...${literal(installed)}, ...inPlaces].find((file) => existsSync(file));

if (program !== undefined) {
  process.argv = [process.argv[0], program, ...args];
  await import(pathToFileURL(program).href);
} else {
  const [command, ...front] = ${literal(command)};
  const child = spawn(command, [...front, ...args], { stdio: 'inherit', windowsHide: true });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
  child.on('error', (error) => {
    process.stderr.write(
      \`\${script}: Switchboard not found: it is not installed here or in the project, and \${command} cannot be started: \${error.message}\\n\` +
        '  Install it: npm install -g mcp-switchboard\\n' +
        \`  Or restore the server: npx mcp-switchboard unwrap \${JSON.stringify(folder)}\\n\`,
    );
    process.exit(1);
  });
}
`;
}
