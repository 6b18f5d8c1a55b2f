import type { CliFace } from './face.ts';

/** What there is to say where nothing is configured. */
export function noServer({ program }: CliFace): string {
  return `No server is configured. \`${program} doctor\` says where they are looked for.\n`;
}
