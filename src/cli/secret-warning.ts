import { printableLine } from '../shared/printable.ts';

/** What to say of a secret that stands in a file of a project: which one, why that matters, and what to do. */
export function secretWarning(
  file: string,
  server: string,
  { where, variable }: { readonly where: string; readonly variable: string },
): string {
  return printableLine(
    `${where} of ${JSON.stringify(server)} in ${file} looks like a secret, and everybody who has this project can read ` +
      `it. Write "\${${variable}}" there and set ${variable} in your environment, or keep the server in your own file ` +
      '(`switchboard add --user`).',
  );
}
