import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The queries of a file in bench/queries, undefined if it does not exist. A tool that does not exist is a mistake in
 * the file.
 */
export function queriesIn(name, lists) {
  const file = fileURLToPath(new URL(`../queries/${name}.json`, import.meta.url));
  if (!existsSync(file)) return undefined;
  const queries = JSON.parse(readFileSync(file, 'utf8'));
  const known = new Set(
    lists.flatMap(({ name: server, tools }) => tools.map((tool) => `${server}.${tool.name}`)),
  );
  const servers = new Set(lists.map(({ name: server }) => server));
  for (const path of queries.flatMap(({ expected }) => expected))
    if (servers.has(path.slice(0, path.indexOf('.'))) && !known.has(path))
      throw new Error(`${name}: there is no ${path}`);
  return queries;
}
