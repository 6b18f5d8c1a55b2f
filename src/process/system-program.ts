import { win32 } from 'node:path';

/** A program of Windows by its full path: a name would be looked for in the working directory first. */
export function systemProgram(name: string): string {
  return win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', name);
}
