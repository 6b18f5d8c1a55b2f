import { Buffer } from 'node:buffer';
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findCommand } from './find-command.ts';
import type { SpawnOptions } from './spawnable.ts';

/**
 * Starts the same program through a shell that enters the cgroup and then becomes the program: with the same pid, and
 * before it can start anything itself. Returns undefined if the program must be started directly, because only the
 * system can say why it does not start or because a shell would change its environment.
 */
export function startInCgroup(program: SpawnOptions, cgroup: string): SpawnOptions | undefined {
  const { command, args, cwd, env } = program;
  if (![SHELL, ENV].every((path) => existsSync(path)) || !Object.keys(env).every(passesShell))
    return undefined;
  const found = findCommand(command, { cwd, env });
  if (found.kind !== 'found' || !hasInterpreter(found.file, cwd)) return undefined;
  // A path is kept as written, because scripts read it in $0.
  const file = command.includes('/') ? command : found.file;
  // `env` would treat it as an option or a variable.
  if (file.startsWith('-') || file.includes('=')) return undefined;
  const kept = SET_BY_SHELLS.flatMap((name) => (env[name] === undefined ? [] : [`${name}=${env[name]}`]));
  return {
    ...program,
    command: SHELL,
    args: ['-c', SCRIPT, join(cgroup, 'cgroup.procs'), ...kept, file, ...args],
    shown: program.shown ?? { command, cwd },
  };
}

const SHELL = '/bin/sh';
const ENV = '/usr/bin/env';

/** Variables that shells set or change. None of them is secret. */
const SET_BY_SHELLS = ['PWD', 'OLDPWD', 'SHLVL', '_'];
const UNSET = SET_BY_SHELLS.map((name) => `-u ${name}`).join(' ');

/** 0 is the process that writes it. If that fails, the program starts without the cgroup. */
const SCRIPT = `{ echo 0 >"$0"; } 2>/dev/null; exec ${ENV} ${UNSET} "$@"`;

/**
 * Whether shells pass a variable on unchanged: they drop those with names they do not allow, and use some themselves.
 */
function passesShell(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !MEANT_FOR_SHELLS.test(name);
}

const MEANT_FOR_SHELLS =
  /^(?:IFS|PPID|E?UID|GROUPS|OPTIND|LINENO|RANDOM|SECONDS|FUNCNAME|DIRSTACK|SHELLOPTS|POSIXLY_CORRECT|BASH.*)$/;

/** Whether the interpreter in the file's first line exists, if it names one. */
function hasInterpreter(file: string, cwd: string): boolean {
  const [, interpreter] = /^#![ \t]*([^ \t\n]+)/.exec(startOf(file)) ?? [];
  return interpreter === undefined || existsSync(resolve(cwd, interpreter));
}

function startOf(file: string): string {
  const start = Buffer.alloc(256);
  try {
    const descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return start.toString('latin1', 0, readSync(descriptor, start));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // A program can be executable without being readable.
    return '';
  }
}
