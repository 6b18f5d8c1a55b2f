import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, test } from 'vitest';
import { knownAs, purposeOf, recognised, type Recognisable } from '../known.ts';
import { brands } from './brands.ts';
import { KNOWN, type KnownId } from './known.ts';
import { ROLES } from './roles.ts';

const IDS = Object.keys(KNOWN) as KnownId[];

/** How each server is started or reached according to its own documentation. */
const LINES: Readonly<Record<KnownId, readonly string[]>> = {
  filesystem: [
    'npx -y @modelcontextprotocol/server-filesystem /home/me/project',
    'docker run -i --rm --mount type=bind,src=/home/me,dst=/projects mcp/filesystem /projects',
    'node /home/me/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js .',
    'cmd /c npx -y @modelcontextprotocol/server-filesystem C:\\Users\\me',
  ],
  memory: [
    'npx -y @modelcontextprotocol/server-memory',
    'npx -y @modelcontextprotocol/server-memory@2025.9.25',
    'docker run -i -v claude-memory:/app/dist --rm mcp/memory',
    '/usr/local/bin/mcp-server-memory',
    'C:\\npm\\mcp-server-memory.cmd',
  ],
  fetch: ['uvx mcp-server-fetch', 'python -m mcp_server_fetch', 'docker run -i --rm mcp/fetch'],
  git: [
    'uvx mcp-server-git --repository /home/me/project',
    'python -m mcp_server_git',
    'docker run --rm -i --mount type=bind,src=/home/me,dst=/home/me mcp/git',
  ],
  time: [
    'uvx mcp-server-time --local-timezone=Europe/Berlin',
    'docker run -i --rm -e LOCAL_TIMEZONE mcp/time',
  ],
  'sequential-thinking': [
    'npx -y @modelcontextprotocol/server-sequential-thinking',
    'docker run --rm -i mcp/sequentialthinking',
  ],
  'desktop-commander': [
    'npx -y @wonderwhy-er/desktop-commander@latest',
    'docker run -i --rm mcp/desktop-commander:latest',
  ],
  github: [
    'npx -y @modelcontextprotocol/server-github',
    'docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN ghcr.io/github/github-mcp-server',
    '/opt/github-mcp-server stdio',
    'https://api.githubcopilot.com/mcp/',
  ],
  gitlab: [
    'npx -y @zereight/mcp-gitlab',
    'npx -y @modelcontextprotocol/server-gitlab',
    'https://gitlab.com/api/v4/mcp',
    'npx -y mcp-remote@latest https://gitlab.example.org/api/v4/mcp',
  ],
  playwright: [
    'npx @playwright/mcp@latest --headless',
    'docker run -i --rm --init --pull=always mcr.microsoft.com/playwright/mcp',
  ],
  puppeteer: ['npx -y @modelcontextprotocol/server-puppeteer', 'docker run -i --rm --init mcp/puppeteer'],
  'chrome-devtools': ['npx -y chrome-devtools-mcp@latest'],
  context7: ['npx -y @upstash/context7-mcp --api-key KEY', 'https://mcp.context7.com/mcp'],
  'aws-documentation': [
    'uvx awslabs.aws-documentation-mcp-server@latest',
    'uv tool run --from awslabs.aws-documentation-mcp-server@latest awslabs.aws-documentation-mcp-server.exe',
    'https://knowledge-mcp.global.api.aws',
  ],
  'brave-search': [
    'npx -y @brave/brave-search-mcp-server --transport stdio',
    'npx -y @modelcontextprotocol/server-brave-search',
    'docker run -i --rm -e BRAVE_API_KEY docker.io/mcp/brave-search',
  ],
  exa: [
    'npx -y exa-mcp-server',
    'https://mcp.exa.ai/mcp?tools=web_search_exa',
    'npx -y mcp-remote https://mcp.exa.ai/mcp',
  ],
  tavily: ['npx -y tavily-mcp@0.1.4', 'https://mcp.tavily.com/mcp/?tavilyApiKey=KEY'],
  firecrawl: [
    'npx -y firecrawl-mcp',
    'env FIRECRAWL_API_KEY=KEY npx -y firecrawl-mcp',
    'https://mcp.firecrawl.dev/v2/mcp',
  ],
  'google-maps': ['npx -y @modelcontextprotocol/server-google-maps', 'docker run -i --rm mcp/google-maps'],
  slack: [
    'npx -y slack-mcp-server@latest --transport stdio',
    'npx -y @modelcontextprotocol/server-slack',
    'docker run -i --rm ghcr.io/korotovsky/slack-mcp-server:latest',
    'https://mcp.slack.com/mcp',
  ],
  notion: [
    'npx -y @notionhq/notion-mcp-server',
    'docker run --rm -i mcp/notion',
    'https://mcp.notion.com/mcp',
  ],
  obsidian: ['uvx mcp-obsidian'],
  'google-drive': ['npx -y @modelcontextprotocol/server-gdrive', 'docker run -i --rm mcp/gdrive'],
  linear: ['https://mcp.linear.app/mcp', 'npx -y mcp-remote https://mcp.linear.app/sse'],
  atlassian: [
    'uvx mcp-atlassian',
    'docker run -i --rm ghcr.io/sooperset/mcp-atlassian:latest',
    'https://mcp.atlassian.com/v1/sse',
  ],
  figma: ['npx -y figma-developer-mcp --figma-api-key=KEY --stdio', 'https://mcp.figma.com/mcp'],
  sentry: [
    'npx @sentry/mcp-server@latest --access-token=TOKEN',
    'uvx mcp-server-sentry',
    'https://mcp.sentry.dev/mcp',
  ],
  stripe: ['npx -y @stripe/mcp --tools=all --api-key=KEY', 'https://mcp.stripe.com'],
  postgres: [
    'npx -y @modelcontextprotocol/server-postgres postgresql://localhost/mydb',
    'uvx postgres-mcp --access-mode=restricted',
    'uvx postgres-mcp==0.3.0',
    'docker run -i --rm -e DATABASE_URI crystaldba/postgres-mcp --access-mode=unrestricted',
  ],
  sqlite: [
    'uvx mcp-server-sqlite --db-path test.db',
    'docker run --rm -i -v mcp-test:/mcp mcp/sqlite --db-path /mcp/test.db',
  ],
  mysql: ['npx -y @benborla29/mcp-server-mysql', 'uv --directory /home/me run mysql_mcp_server'],
  mongodb: [
    'npx -y mongodb-mcp-server@latest --readOnly',
    'docker run --rm -i mongodb/mongodb-mcp-server:latest',
  ],
  redis: [
    'uvx --from redis-mcp-server@latest redis-mcp-server --url redis://localhost:6379/0',
    'npx -y @modelcontextprotocol/server-redis redis://localhost:6379',
    'docker run --rm -i mcp/redis',
  ],
  supabase: [
    'npx -y @supabase/mcp-server-supabase@latest --read-only --project-ref=REF',
    'https://mcp.supabase.com/mcp?project_ref=REF',
  ],
  docker: ['uvx mcp-server-docker'],
  kubernetes: [
    'npx mcp-server-kubernetes',
    'npx -y kubernetes-mcp-server@latest',
    'uvx kubernetes-mcp-server@latest',
    'docker run -i --rm flux159/mcp-server-kubernetes:latest',
  ],
  cloudflare: [
    'https://docs.mcp.cloudflare.com/mcp',
    'https://mcp.cloudflare.com/mcp',
    'npx -y mcp-remote https://observability.mcp.cloudflare.com/mcp',
  ],
};

function serverOf(line: string): Recognisable {
  if (line.startsWith('http')) return { kind: 'remote', url: line };
  const [command = '', ...args] = line.split(' ');
  return { kind: 'stdio', command, args };
}

function known(line: string): string | undefined {
  return recognised(serverOf(line));
}

describe('the library', () => {
  test('knows thirty servers or more', () => {
    expect(IDS.length).toBeGreaterThanOrEqual(30);
  });

  test.each(IDS.flatMap((id) => LINES[id].map((line) => [line, id])))('%s is %s', (line, id) => {
    expect(known(line)).toBe(id);
  });

  test('has no program and no address of two servers', () => {
    const all = IDS.flatMap((id) => [...KNOWN[id].programs, ...(KNOWN[id].addresses ?? [])]);
    expect(all.filter((name, at) => all.indexOf(name) !== at)).toEqual([]);
  });

  test.each(IDS)('says what %s is for in one short sentence', (id) => {
    const { purpose } = KNOWN[id];
    expect(`Use this tool for ${purpose}.`.length).toBeLessThanOrEqual(160);
    expect(purpose).toMatch(/^\S[^.\n]*[^.\s]$/);
    expect(IDS.filter((other) => KNOWN[other].purpose === purpose)).toEqual([id]);
  });

  test.each(IDS)('tells a model how to use %s in 80 to 250 words', (id) => {
    const words = ROLES[id].split(/\s+/).length;
    expect(words).toBeGreaterThanOrEqual(80);
    expect(words).toBeLessThanOrEqual(250);
    expect(ROLES[id]).toMatch(/^You [^\n]+\n\n- /);
    expect(ROLES[id]).toMatch(/\n- Answer [^\n]+$/);
    expect(IDS.filter((other) => ROLES[other] === ROLES[id])).toEqual([id]);
  });

  test('has long words for exactly the servers it knows', () => {
    expect(Object.keys(ROLES).sort()).toEqual([...IDS].sort());
  });
});

describe('of further servers', () => {
  const all = Object.entries(brands());

  test.each([
    ['npx -y @azure/mcp@latest server start', 'azure'],
    ['npx --yes --package=@azure/mcp azmcp server start', 'azure'],
    ['/opt/azure/azmcp server start', 'azure'],
    ['docker run -i --rm --env-file .env mcr.microsoft.com/azure-sdk/azure-mcp:latest', 'azure'],
    ['npx -y @azure-devops/mcp contoso', 'azure-devops'],
    ['uvx awslabs.aws-api-mcp-server@latest', 'aws'],
    ['npx -y @heroku/mcp-server', 'heroku'],
    ['npx -y @neondatabase/mcp-server-neon start KEY', 'neon'],
    ['npx -y prisma mcp', 'prisma'],
    ['npx -y @elastic/mcp-server-elasticsearch', 'elasticsearch'],
    ['docker run --rm -i grafana/mcp-grafana -t stdio', 'grafana'],
    ['https://mcp.datadoghq.com/api/unstable/mcp-server/mcp', 'datadog'],
    ['uvx pagerduty-mcp --enable-write-tools', 'pagerduty'],
    ['npx @browserbasehq/mcp-server-browserbase', 'browserbase'],
    ['npx -y @gongrzhe/server-gmail-autoauth-mcp', 'gmail'],
    ['npx -y airtable-mcp-server', 'airtable'],
    ['npx -y @hubspot/mcp-server', 'hubspot'],
    ['npx -y @shopify/dev-mcp@latest', 'shopify'],
    ['npx -y mcp-remote https://mcp.vercel.com', 'vercel'],
    ['uvx --from git+https://github.com/oraios/serena serena start-mcp-server', 'serena'],
    ['node /usr/lib/node_modules/@modelcontextprotocol/server-everything/dist/index.js', 'everything'],
    ['node /usr/local/bin/mcp-server-everything stdio', 'everything'],
    ['npx -y @somebody/todoist-mcp@1.2.3', 'todoist'],
    ['docker run -i --rm mcp/airtable', 'airtable'],
    ['bunx -y discord-mcp', 'discord'],
  ])('%s is %s', (line, id) => {
    expect(recognised(serverOf(line))).toBe(id);
    expect(purposeOf(serverOf(line))).toBe(brands()[id]!.purpose);
    expect(knownAs(serverOf(line))).toBeUndefined();
  });

  test('each has a purpose of its own, in few words', () => {
    const purposes = [...all.map(([, { purpose }]) => purpose), ...IDS.map((id) => KNOWN[id].purpose)];
    expect(new Set(purposes).size).toBe(purposes.length);
    for (const purpose of purposes) {
      expect(purpose).toMatch(/^\S[^\n]*[^.\s]$/);
      const text = `Use this tool for ${purpose}. Actions: 'introspect' | 'call'.`;
      expect(encode(text).length, purpose).toBeLessThanOrEqual(40);
    }
  });

  test('none has a name, program or address of another one', () => {
    const names = [...IDS, ...all.map(([id]) => id)];
    expect(new Set(names).size).toBe(names.length);
    const everybody = [...IDS.map((id) => KNOWN[id]), ...all.map(([, each]) => each)];
    const used = everybody.flatMap(({ programs, addresses = [] }) => [...programs, ...addresses]);
    expect(used.filter((name, at) => used.indexOf(name) !== at)).toEqual([]);
  });
});

describe('a server is not taken for a known one', () => {
  test.each([
    ['a program of our own', 'node server.mjs'],
    ['a package with a longer name', 'npx -y @modelcontextprotocol/server-memory-plus'],
    ['an image of somebody else', 'docker run -i example/git'],
    ['a known name in a path that is an argument', 'node server.mjs /home/me/mcp-server-git'],
    ['an address of a known server that is an argument', 'node server.mjs https://mcp.linear.app/mcp'],
    ['a known name that is a flag', 'npx my-server --mcp-server-git'],
    ['the site of a known server', 'https://linear.app/mcp'],
    ['a host that ends alike', 'https://evilmcp.linear.app/mcp'],
    ['what is no address', 'http://'],
    ['a package named by a common word', 'npx -y time-mcp'],
    ['a file with the name of a known one, given to a program', '/bin/tool /usr/bin/mcp-server-everything'],
  ])('%s', (_what, line) => {
    expect(known(line)).toBeUndefined();
  });

  test('a part of this program', () => {
    expect(knownAs({ kind: 'builtin' })).toBeUndefined();
    expect(purposeOf({ kind: 'builtin' })).toBeUndefined();
  });
});

test('what runs counts, not its arguments', () => {
  const line = 'npx -y @modelcontextprotocol/server-filesystem /home/me/node_modules/firecrawl-mcp';
  expect(known(line)).toBe('filesystem');
});

test('a command that a shell is given is looked into', () => {
  const server = { kind: 'stdio', command: 'sh', args: ['-c', 'cd /tmp && exec npx -y tavily-mcp'] } as const;
  expect(knownAs(server)).toBe('tavily');
});
