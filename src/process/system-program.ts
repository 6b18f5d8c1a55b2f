import { win32 } from 'node:path';

/** The full path of a Windows program: given a name only, the working directory would be searched first. */
export function systemProgram(name: string): string {
  return win32.join(process.env['SystemRoot'] ?? 'C:\\Windows', 'System32', name);
}
