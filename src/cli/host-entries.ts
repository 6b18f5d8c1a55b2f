import { homedir } from 'node:os';
import { readFileSync } from 'node:fs';
import { recursionGuard, type LoadedConfig } from '../config/index.ts';
import {
  addressEntry,
  plainEntry,
  programEntry,
  type Entry,
  type Host,
  type Surroundings,
} from '../hosts/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Context } from './command.ts';
import { TOKEN_VARIABLE } from './http-token.ts';
import { ownLaunch } from './own-launch.ts';

/** What hosts and their files are looked for in. */
export function surroundingsOf({ cwd, env }: Pick<Context, 'cwd' | 'env'>): Surroundings {
  return { platform: process.platform, home: homedir(), env, cwd };
}

/** The entry by which a host starts this program with a configuration; without one, with what it finds where it starts. */
export function ourProgram(
  host: Host,
  { file, variables }: { file: string | undefined; variables: readonly string[] },
  { face, env }: Context,
): Entry {
  const { command, args } = ownLaunch({
    script: process.argv[1] ?? '',
    node: process.execPath,
    launch: face.launch,
    env,
  });
  return programEntry(host, {
    command,
    args: [...args, ...(file === undefined ? [] : ['--config', file])],
    variables,
  });
}

/** The entry by which a host connects to this program, which runs already. */
export function ourAddress(host: Host, url: string): Entry {
  const entry = addressEntry(host, { url, tokenVariable: TOKEN_VARIABLE });
  if (entry !== undefined) return entry;
  throw new SwitchboardError(
    'USAGE',
    `${host.title} has no entry for an address whose token comes from the environment.`,
    {
      hint: 'Leave out --http, and it starts the program itself; or add the address as a connector in its settings.',
    },
  );
}

/** What the person has to see to, where a host does not pass on the variables that a configuration refers to. */
export function passingNotes({ title, passes }: Host, variables: readonly string[]): string[] {
  if (passes !== 'little' || variables.length === 0) return [];
  return [
    `${title} passes little of your environment on, and the configuration refers to ${variables.join(', ')}: ` +
      'write them into "env" of the entry.',
  ];
}

/** Whether an entry of a host starts this program, or connects to it with its token. */
export function isOurs(entry: unknown): boolean {
  if (typeof entry !== 'object' || entry === null) return false;
  const plain = plainEntry(entry) as Record<string, unknown>;
  const { command, args, headers, bearer_token_env_var: bearer } = plain;
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.filter((each) => typeof each === 'string') : [];
    return recursionGuard(process.argv[1])({ command, args: words, cwd: '/' });
  }
  return bearer === TOKEN_VARIABLE || JSON.stringify(headers ?? null).includes(TOKEN_VARIABLE);
}

/** The variables that a configuration refers to; a host may have to be told to pass them on. */
export function variablesIn({ file }: Pick<LoadedConfig, 'file'>): string[] {
  // A program builds its texts itself.
  if (file === undefined || !/\.jsonc?$/.test(file)) return [];
  return referencesIn(readFileSync(file, 'utf8'));
}

/** The same of a text. Those that every program gets are left out. */
export function referencesIn(text: string): string[] {
  const names = [...text.matchAll(/(?<!\$)\$\{(?:env:)?([A-Za-z_]\w*)(?=\}|:-)/g)].map(([, name]) => name!);
  return [...new Set(names)].filter((name) => !EVERYWHERE.has(name)).sort();
}

const EVERYWHERE = new Set([
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TERM',
  'TMPDIR',
  'USERPROFILE',
]);
