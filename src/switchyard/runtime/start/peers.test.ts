import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, outcomeOf, runningYard, type RunningYard } from '../../../../test/helpers/yard-services.ts';
import { findExecutable } from '../../../process/index.ts';

/**
 * Sends a request to each peer in its variables, writes the responses down, then listens: once it is ready, it has
 * called them.
 */
const NODE = `
import { writeFileSync } from 'node:fs';
const urls = Object.entries(process.env).filter(([name]) => /^SWITCHYARD_(?:API|SIX|NAMED)_URL$/.test(name));
const pids = {};
for (const [name, url] of urls) pids[name] = (await (await fetch(url)).json()).pid;
writeFileSync('node.json', JSON.stringify(pids));
await import('./server.mjs');
`;

const PYTHON = `
import json, os, urllib.request
names = [name for name in os.environ if name in ("SWITCHYARD_API_URL", "SWITCHYARD_SIX_URL", "SWITCHYARD_NAMED_URL")]
pids = {name: json.load(urllib.request.urlopen(os.environ[name]))["pid"] for name in names}
with open("python.json", "w") as file: json.dump(pids, file)
os.execvp("node", ["node", "server.mjs"])
`;

/** The same for a program that prints the response of a URL. */
function shellCaller(tool: string, fetches: string): string {
  return `for name in API SIX NAMED; do
  eval "url=\\$SWITCHYARD_\${name}_URL"
  [ -z "$url" ] || ${fetches} "$url" >${tool}.$name || exit 1
done
exec node server.mjs
`;
}

const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

const CALLEES = `
[services.api]
command = "node server.mjs"
[services.named]
command = "node server.mjs"
host = "localhost"
${hasIpv6 ? '[services.six]\ncommand = "node server.mjs --host ::1"\n' : ''}`;

const CALLED = ['api', 'named', ...(hasIpv6 ? ['six'] : [])];

async function callingYard(command: string, files: Readonly<Record<string, string>>): Promise<RunningYard> {
  const needs = JSON.stringify(CALLED);
  const yard = await runningYard(
    `${CALLEES}[services.caller]\ncommand = "${command}"\ndepends_on = ${needs}\nready_timeout = 60\n`,
  );
  for (const [name, text] of Object.entries(files)) writeFileSync(join(yard.root, name), text);
  return yard;
}

/** The pid of the server in each service: the recorded one is that of the shell that records its exit. */
async function serverPids(yard: RunningYard): Promise<Record<string, number>> {
  const result = await yard.up();
  expect(result.ok, result.messages.join('\n')).toBe(true);
  const pids = CALLED.map(async (name) => {
    const { port } = outcomeOf(result, name);
    const host = name === 'six' ? '::1' : name === 'named' ? 'localhost' : '127.0.0.1';
    return [`SWITCHYARD_${name.toUpperCase()}_URL`, (await ask(port, host)).pid] as const;
  });
  return Object.fromEntries(await Promise.all(pids));
}

function isThere(program: string, ...args: string[]): boolean {
  if (findExecutable(program, { cwd: '/', path: process.env.PATH }) === undefined) return false;
  try {
    execFileSync(program, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

describe('services reach each other by the variables', () => {
  test('with fetch of Node', async () => {
    const yard = await callingYard('node caller.mjs', { 'caller.mjs': NODE });
    const pids = await serverPids(yard);
    expect(JSON.parse(readFileSync(join(yard.root, 'node.json'), 'utf8'))).toEqual(pids);
  });

  test.runIf(isThere('python3', '-c', 'import urllib.request'))('with urllib of Python', async () => {
    const yard = await callingYard('python3 caller.py', { 'caller.py': PYTHON });
    const pids = await serverPids(yard);
    expect(JSON.parse(readFileSync(join(yard.root, 'python.json'), 'utf8'))).toEqual(pids);
  });

  test.runIf(isThere('wget', '--version'))('with wget', async () => {
    const yard = await callingYard('sh caller.sh', { 'caller.sh': shellCaller('wget', 'wget -qO-') });
    await expectAnswers(yard, 'wget');
  });

  test.runIf(isThere('curl', '--version'))('with curl', async () => {
    const yard = await callingYard('sh caller.sh', { 'caller.sh': shellCaller('curl', 'curl -sSf') });
    await expectAnswers(yard, 'curl');
  });

  async function expectAnswers(yard: RunningYard, tool: string): Promise<void> {
    const pids = await serverPids(yard);
    for (const name of CALLED.map((each) => each.toUpperCase())) {
      const { pid } = JSON.parse(readFileSync(join(yard.root, `${tool}.${name}`), 'utf8')) as { pid: number };
      expect(pid, name).toBe(pids[`SWITCHYARD_${name}_URL`]);
    }
  }

  test('that start at the same time or later, at their configured address', async () => {
    const yard = await runningYard(`
[services.web]
command = "node server.mjs {api_url} {api_host} {api_port} {named_url} {api_public_url}"
[services.api]
command = "node server.mjs"
[services.named]
command = "node server.mjs"
host = "localhost"
depends_on = ["web"]
`);
    const result = await yard.up();
    const { argv, env } = await ask(outcomeOf(result, 'web').port);
    const api = outcomeOf(result, 'api');
    const named = outcomeOf(result, 'named');
    expect(argv).toEqual([
      `http://127.0.0.1:${api.port}`,
      '127.0.0.1',
      String(api.port),
      `http://localhost:${named.port}`,
      api.url,
    ]);
    expect(env).toMatchObject({
      SWITCHYARD_API_URL: argv[0],
      SWITCHYARD_API_HOST: argv[1],
      SWITCHYARD_API_PORT: argv[2],
      SWITCHYARD_API_PUBLIC_URL: api.url,
      SWITCHYARD_NAMED_URL: argv[3],
      SWITCHYARD_URL: outcomeOf(result, 'web').url,
    });
  });

  test.runIf(hasIpv6)('that ran before, at their actual address', async () => {
    const yard = await runningYard(
      '[services.six]\ncommand = "node server.mjs --host ::1"\n[services.web]\ncommand = "node server.mjs"\n',
    );
    const { port } = outcomeOf(await yard.up({ services: ['six'] }), 'six');
    const { env } = await ask(outcomeOf(await yard.up({ services: ['web'] }), 'web').port);
    expect(env).toMatchObject({ SWITCHYARD_SIX_URL: `http://[::1]:${port}`, SWITCHYARD_SIX_HOST: '::1' });
  });
});
