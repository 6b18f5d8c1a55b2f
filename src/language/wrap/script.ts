import { ascii } from './record.ts';

/** How the script reaches this program. */
export type WrapperLaunch =
  /** It is installed here; the script runs it in its own process. */
  | { readonly kind: 'installed'; readonly program: string }
  /** It was fetched for one run and may be gone tomorrow; the script has it fetched again. */
  | { readonly kind: 'fetched'; readonly command: string; readonly args: readonly string[] };

/** The command that the script gives this program; `main` of the command line knows it. */
const WRAPPER_COMMAND = 'language-server';

/** Part of a script that knows `args`, and says by `isNotThere` what to do where there is no such command. */
const PASS_ON = `/** Has another process do all of it, which has our input and output. */
function passOn(command) {
  const child = spawn(command, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code) => process.exit(code ?? 1));
  child.on('error', (error) => {
    isNotThere(error);
    process.exit(1);
  });
}
`;

/** The program that replaces a wrapped server. */
export function wrapperScript(server: string, launch: WrapperLaunch): string {
  const body = launch.kind === 'installed' ? installed(launch.program) : fetched(launch);
  return `// The server ${ascii(JSON.stringify(server))} behind one tool, natural_language: a model reads CLAUDE.md and uses the tools of the server.
// \`switchboard wrap\` wrote this; \`switchboard unwrap\` puts everything back. The command of the server itself is in
// original/.mcp.json, and the settings of the model are the arguments in .mcp.json.
${body}`;
}

function installed(program: string): string {
  return `import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const script = fileURLToPath(import.meta.url);
const folder = dirname(script);
const usual = ${ascii(JSON.stringify(program))};
const args = ['${WRAPPER_COMMAND}', folder, ...process.argv.slice(2)];
const program = [usual, inProject(), ...ofWindows()].find((file) => file !== undefined && existsSync(file));

if (program !== undefined) {
  process.argv = [process.argv[0], program, ...args];
  await import(pathToFileURL(program).href);
} else {
  passOn('mcp-switchboard');
}

/** The one that the project has of its own, where this folder came from another machine. */
function inProject() {
  try {
    return join(dirname(createRequire(script).resolve('mcp-switchboard/package.json')), 'dist', 'index.js');
  } catch {
    return undefined;
  }
}

/** Where npm installs it for all projects, beside a command that only a shell can run. */
function ofWindows() {
  if (process.platform !== 'win32') return [];
  const places = (process.env.PATH ?? '').split(delimiter).filter((place) => place !== '');
  return places.map((place) => join(place, 'node_modules', 'mcp-switchboard', 'dist', 'index.js'));
}

${PASS_ON}
function isNotThere() {
  process.stderr.write(
    \`\${script}: Switchboard not found: not at \${usual}, not in the project, and not as the command mcp-switchboard.\\n\` +
      '  Install it: npm install -g mcp-switchboard\\n' +
      \`  Or restore the server: npx mcp-switchboard unwrap \${JSON.stringify(folder)}\\n\`,
  );
}
`;
}

function fetched({ command, args }: Extract<WrapperLaunch, { kind: 'fetched' }>): string {
  return `import { spawn } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(import.meta.url);
const folder = dirname(script);
const command = ${ascii(JSON.stringify(command))};
const args = [...${ascii(JSON.stringify(args))}, '${WRAPPER_COMMAND}', folder, ...process.argv.slice(2)];

passOn(command);

${PASS_ON}
function isNotThere(error) {
  process.stderr.write(
    \`\${script}: could not start Switchboard with \${command}: \${error.message}\\n\` +
      '  Install it: npm install -g mcp-switchboard\\n' +
      \`  Then wrap the server again: switchboard unwrap \${JSON.stringify(folder)}, and switchboard wrap.\\n\`,
  );
}
`;
}
