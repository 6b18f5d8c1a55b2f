import { printableLine } from '../shared/printable.ts';
import { shellWord } from '../shared/shell-word.ts';
import type { Candidate } from './candidate.ts';
import { isObject } from './plain-data.ts';
import { isModule, readJsonFile } from './read.ts';

/** What a server would start or connect to, as it is written, on one line. */
export function whatRuns({ name, file, definition }: Candidate): string {
  if (isModule(file)) return printableLine(`${file} is a program, and is run when it is read`);
  switch (definition.kind) {
    case 'stdio': {
      const { command, args = [], env = {}, cwd, envFile } = definition.server;
      const inner = typeof command === 'string' ? { cmd: command } : command;
      const words = [inner.cmd, ...(inner.args ?? []), ...args].map(shellWord).join(' ');
      const names = Object.keys({ ...inner.env, ...env });
      return line(name, words, [
        ...(cwd === undefined ? [] : [`in ${cwd}`]),
        ...(names.length === 0 ? [] : [`sets ${names.join(', ')}`]),
        ...(envFile === undefined ? [] : [`reads variables from ${envFile}`]),
      ]);
    }
    case 'remote':
      return line(
        name,
        definition.server.url.text,
        definition.server.headers.map((header) => `sends ${header.name}`),
      );
    case 'builtin':
      return printableLine(`${name}: ${definition.server.builtin}, a part of this program`);
    default:
      return printableLine(`${name}: its definition is wrong`);
  }
}

function line(name: string, what: string, more: readonly string[]): string {
  return printableLine(`${name}: ${what}${more.length === 0 ? '' : ` (${more.join('; ')})`}`);
}

/** Which settings a configuration file makes besides its servers, as a line; none for one that makes none. */
export function settingsSet(file: string | undefined): string[] {
  if (file === undefined || isModule(file)) return [];
  try {
    const value = readJsonFile(file);
    const keys = isObject(value) ? Object.keys(value).filter((key) => !NO_SETTINGS.has(key)) : [];
    return keys.length === 0 ? [] : [printableLine(`It also sets ${keys.join(', ')}.`)];
  } catch {
    return [];
  }
}

const NO_SETTINGS = new Set(['$schema', 'mcpServers']);
