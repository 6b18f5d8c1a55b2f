import { printableLine } from '../shared/printable.ts';
import { shellWord } from '../shared/shell-word.ts';
import type { Candidate } from './candidate.ts';
import { isModule } from './read.ts';

/** What a server would start or connect to, as it is written, on one line. */
export function whatRuns({ name, file, definition }: Candidate): string {
  if (isModule(file)) return printableLine(`${file} is a program, and is run when it is read`);
  switch (definition.kind) {
    case 'stdio': {
      const { command, args = [], env = {} } = definition.server;
      const inner = typeof command === 'string' ? { cmd: command } : command;
      const words = [inner.cmd, ...(inner.args ?? []), ...args].map(shellWord).join(' ');
      const names = Object.keys({ ...inner.env, ...env });
      return printableLine(`${name}: ${words}${names.length === 0 ? '' : ` (sets ${names.join(', ')})`}`);
    }
    case 'remote':
      return printableLine(`${name}: ${definition.server.url.text}`);
    case 'builtin':
      return printableLine(`${name}: ${definition.server.builtin}, a part of this program`);
    default:
      return printableLine(`${name}: wrongly defined`);
  }
}
