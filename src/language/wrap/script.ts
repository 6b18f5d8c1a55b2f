import { ascii } from './record.ts';

/** How the script reaches this program. */
export type WrapperLaunch =
  /** It is installed here; the script runs it in its own process. */
  | { readonly kind: 'installed'; readonly program: string }
  /** It was fetched for one run and may be gone tomorrow; the script has it fetched again. */
  | { readonly kind: 'fetched'; readonly command: string; readonly args: readonly string[] };

/** The command that the script gives this program; `main` of the command line knows it. */
const WRAPPER_COMMAND = 'language-server';

/** The program that stands in the place of a wrapped server. */
export function wrapperScript(server: string, launch: WrapperLaunch): string {
  const body = launch.kind === 'installed' ? installed(launch.program) : fetched(launch);
  return `// The server ${ascii(JSON.stringify(server))} behind one tool, natural_language: a model reads CLAUDE.md and uses the tools of the server.
// \`switchboard wrap\` wrote this; \`switchboard unwrap\` puts everything back. How the server itself is started stands in
// original/.mcp.json, and the settings of the model are the arguments in .mcp.json.
${body}`;
}

function installed(program: string): string {
  return `import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const script = fileURLToPath(import.meta.url);
const folder = dirname(script);
const usual = ${ascii(JSON.stringify(program))};
const program = [usual, inProject()].find((file) => file !== undefined && existsSync(file));

if (program === undefined) {
  process.stderr.write(
    \`\${script}: Switchboard is needed and is not installed any more (\${usual}).\\n\` +
      '  Install it again: npm install -g mcp-switchboard\\n' +
      \`  Or have the server as it was: npx mcp-switchboard unwrap \${JSON.stringify(folder)}\\n\`,
  );
  process.exitCode = 1;
} else {
  process.argv = [process.argv[0], program, '${WRAPPER_COMMAND}', folder, ...process.argv.slice(2)];
  await import(pathToFileURL(program).href);
}

/** The one that the project has of its own, where this folder came from another machine. */
function inProject() {
  try {
    return join(dirname(createRequire(script).resolve('mcp-switchboard/package.json')), 'dist', 'index.js');
  } catch {
    return undefined;
  }
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

const child = spawn(command, args, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code) => process.exit(code ?? 1));
child.on('error', (error) => {
  process.stderr.write(
    \`\${script}: Switchboard cannot be started by \${command}: \${error.message}\\n\` +
      '  Install it: npm install -g mcp-switchboard\\n' +
      \`  Then wrap the server again: switchboard unwrap \${JSON.stringify(folder)}, and switchboard wrap.\\n\`,
  );
  process.exit(1);
});
`;
}
