import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Markdown files, relative to the root: those in and below the given folders, and `*.md` for the root itself. */
export function markdownFiles(root: string, places: readonly string[]): string[] {
  return places.flatMap((place) => {
    const recursive = place !== '*.md';
    const folder = recursive ? place : '';
    return readdirSync(join(root, folder), { recursive })
      .map((name) => join(folder, String(name)))
      .filter(
        (name) =>
          name.endsWith('.md') && !name.includes('node_modules') && statSync(join(root, name)).isFile(),
      );
  });
}
