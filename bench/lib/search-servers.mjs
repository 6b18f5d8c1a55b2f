import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { connect, end, HELLO, install, SERVER_CACHE, within } from '../../scripts/lib/npm-server-runs.mjs';
import { NPM_SERVERS } from '../../scripts/lib/npm-servers.mjs';

/** Time limit for a server, in milliseconds. */
const ALONE = 120_000;

/**
 * The tools of real servers from npm, as `{ name, tools }`. A server is installed and listed once; its list is stored
 * next to it, under its exact version.
 */
export async function serverLists(say, cache = SERVER_CACHE) {
  const lists = [];
  for (const server of NPM_SERVERS) {
    const file = join(cache, 'lists', `${server.package.replace(/[^\w.@-]/g, '+')}.json`);
    if (!existsSync(file)) {
      const command = install(server, cache, say);
      const tools = command && (await listed({ ...server, ...command }, say));
      if (tools === undefined) continue;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(tools));
    }
    const tools = JSON.parse(readFileSync(file, 'utf8'));
    if (tools.length > 0) lists.push({ name: server.name, tools });
  }
  return lists;
}

async function listed({ name, command, file, args = [], env = {} }, say) {
  const directory = mkdtempSync(join(tmpdir(), 'search-servers-'));
  const peer = connect(command, [file, ...args], directory, env);
  try {
    await within(ALONE, peer.ask('initialize', HELLO));
    peer.tell('notifications/initialized');
    const tools = [];
    for (let cursor; ;) {
      const page = await within(ALONE, peer.ask('tools/list', cursor === undefined ? {} : { cursor }));
      tools.push(...page.tools);
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    say(`  ${name}: ${tools.length} tools`);
    return tools;
  } catch (error) {
    say(`  ${name}: no answer: ${error.message} ${peer.lastWords()}`);
    return undefined;
  } finally {
    end(peer.child);
    rmSync(directory, { recursive: true, force: true });
  }
}
