/** A server many people use. */
export interface Known {
  /** Its purpose, to follow "Use this tool for". */
  readonly purpose: string;
  /** What starts it: packages, images, Python modules and programs. */
  readonly programs: readonly string[];
  /** Its addresses: hosts, with a leading dot their subdomains, or with a leading slash the beginning of a path. */
  readonly addresses?: readonly string[];
}

const ENTRIES = {
  filesystem: {
    purpose: 'reading, finding, writing and moving files in the folders it may use',
    programs: ['@modelcontextprotocol/server-filesystem', 'mcp-server-filesystem', 'mcp/filesystem'],
  },
  memory: {
    purpose: 'remembering facts about people, projects and things, and recalling them later',
    programs: ['@modelcontextprotocol/server-memory', 'mcp-server-memory', 'mcp/memory'],
  },
  fetch: {
    purpose: 'reading a web page or a file on the web whose address is known',
    programs: ['mcp-server-fetch', 'mcp_server_fetch', 'mcp/fetch'],
  },
  git: {
    purpose: 'looking at and committing to local git repositories: status, diffs, history, branches',
    programs: ['mcp-server-git', 'mcp_server_git', 'mcp/git'],
  },
  time: {
    purpose: 'the current time anywhere, and converting times between time zones',
    programs: ['mcp-server-time', 'mcp_server_time', 'mcp/time'],
  },
  'sequential-thinking': {
    purpose: 'thinking through a hard problem in numbered steps that can be revised and branched',
    programs: [
      '@modelcontextprotocol/server-sequential-thinking',
      'mcp-server-sequential-thinking',
      'mcp/sequentialthinking',
    ],
  },
  'desktop-commander': {
    purpose: 'running commands and programs on this computer, and searching and editing its files',
    programs: ['@wonderwhy-er/desktop-commander', 'desktop-commander', 'mcp/desktop-commander'],
  },
  github: {
    purpose: 'GitHub: issues, pull requests, code search, files, branches, releases and workflow runs',
    programs: [
      '@modelcontextprotocol/server-github',
      'github-mcp-server',
      'ghcr.io/github/github-mcp-server',
      'mcp/github',
      'mcp/github-mcp-server',
    ],
    addresses: ['api.githubcopilot.com'],
  },
  gitlab: {
    purpose: 'GitLab: projects, issues, merge requests, files and pipelines',
    programs: ['@modelcontextprotocol/server-gitlab', '@zereight/mcp-gitlab', 'mcp-gitlab', 'mcp/gitlab'],
    addresses: ['/api/v4/mcp'],
  },
  playwright: {
    purpose:
      'working with web pages in a real browser: opening, clicking, filling forms, reading, screenshots',
    programs: [
      '@playwright/mcp',
      'mcp-server-playwright',
      'mcr.microsoft.com/playwright/mcp',
      'mcp/playwright',
    ],
  },
  puppeteer: {
    purpose: 'working with web pages in Chrome: opening, clicking, filling in, screenshots, running scripts',
    programs: ['@modelcontextprotocol/server-puppeteer', 'mcp-server-puppeteer', 'mcp/puppeteer'],
  },
  'chrome-devtools': {
    purpose: 'debugging web pages in Chrome: console, network, performance traces, screenshots, clicking',
    programs: ['chrome-devtools-mcp'],
  },
  context7: {
    purpose: 'current documentation and code examples of programming libraries',
    programs: ['@upstash/context7-mcp', 'context7-mcp', 'mcp/context7'],
    addresses: ['mcp.context7.com'],
  },
  'aws-documentation': {
    purpose: 'finding and reading the documentation of AWS services',
    programs: ['awslabs.aws-documentation-mcp-server', 'mcp/aws-documentation'],
    addresses: ['knowledge-mcp.global.api.aws'],
  },
  'brave-search': {
    purpose: 'searching the web, news, images, videos and local businesses with Brave',
    programs: [
      '@brave/brave-search-mcp-server',
      '@modelcontextprotocol/server-brave-search',
      'mcp/brave-search',
    ],
  },
  exa: {
    purpose: 'searching the web by meaning and reading the pages found',
    programs: ['exa-mcp-server', 'mcp/exa'],
    addresses: ['mcp.exa.ai'],
  },
  tavily: {
    purpose: 'searching the web, and extracting, mapping or crawling sites',
    programs: ['tavily-mcp', 'mcp/tavily'],
    addresses: ['mcp.tavily.com'],
  },
  firecrawl: {
    purpose: 'getting clean content or structured data out of web pages and whole sites',
    programs: ['firecrawl-mcp', 'mcp/firecrawl'],
    addresses: ['mcp.firecrawl.dev'],
  },
  'google-maps': {
    purpose: 'places, addresses, coordinates, distances and directions on Google Maps',
    programs: ['@modelcontextprotocol/server-google-maps', 'mcp/google-maps'],
  },
  slack: {
    purpose: 'reading and searching Slack channels and threads, and posting messages',
    programs: [
      '@modelcontextprotocol/server-slack',
      '@zencoderai/slack-mcp-server',
      'slack-mcp-server',
      'ghcr.io/korotovsky/slack-mcp-server',
      'mcp/slack',
    ],
    addresses: ['mcp.slack.com'],
  },
  notion: {
    purpose: 'finding, reading and writing pages, databases and comments in Notion',
    programs: ['@notionhq/notion-mcp-server', 'notion-mcp-server', 'mcp/notion'],
    addresses: ['mcp.notion.com'],
  },
  obsidian: {
    purpose: 'finding, reading and writing notes in an Obsidian vault',
    programs: ['mcp-obsidian', 'obsidian-mcp', 'obsidian-mcp-server', 'mcp/obsidian'],
  },
  'google-drive': {
    purpose: 'finding and reading documents, sheets and files in Google Drive',
    programs: ['@modelcontextprotocol/server-gdrive', 'mcp-server-gdrive', 'mcp/gdrive'],
  },
  linear: {
    purpose: 'issues, projects, cycles and comments in Linear',
    programs: ['@tacticlaunch/mcp-linear', 'linear-mcp-server'],
    addresses: ['mcp.linear.app'],
  },
  atlassian: {
    purpose: 'Jira issues and Confluence pages: searching, reading, writing and moving them along',
    programs: ['mcp-atlassian', 'ghcr.io/sooperset/mcp-atlassian', 'mcp/atlassian'],
    addresses: ['mcp.atlassian.com'],
  },
  figma: {
    purpose: 'reading Figma designs: layout, styles, components, variables and images, to build them',
    programs: ['figma-developer-mcp', 'cursor-talk-to-figma-mcp'],
    addresses: ['mcp.figma.com'],
  },
  sentry: {
    purpose: 'errors, traces and releases in Sentry: finding, understanding and resolving issues',
    programs: ['@sentry/mcp-server', 'mcp-server-sentry', 'mcp_server_sentry', 'mcp/sentry'],
    addresses: ['mcp.sentry.dev'],
  },
  stripe: {
    purpose: 'Stripe: customers, products, prices, invoices, subscriptions, refunds and its documentation',
    programs: ['@stripe/mcp', 'mcp/stripe'],
    addresses: ['mcp.stripe.com'],
  },
  postgres: {
    purpose: 'looking into PostgreSQL databases with SQL: tables, rows, query plans, health',
    programs: [
      '@modelcontextprotocol/server-postgres',
      'mcp-server-postgres',
      'postgres-mcp',
      'crystaldba/postgres-mcp',
      'mcp/postgres',
    ],
  },
  sqlite: {
    purpose: 'querying and changing a SQLite database with SQL',
    programs: ['mcp-server-sqlite', 'mcp_server_sqlite', 'mcp/sqlite'],
  },
  mysql: {
    purpose: 'querying a MySQL database with SQL',
    programs: ['@benborla29/mcp-server-mysql', 'mcp-server-mysql', 'mysql-mcp-server', 'mysql_mcp_server'],
  },
  mongodb: {
    purpose: 'MongoDB: collections, queries, aggregations and indexes, and Atlas clusters',
    programs: ['mongodb-mcp-server', 'mongodb/mongodb-mcp-server', 'mcp/mongodb'],
  },
  redis: {
    purpose: 'reading and writing keys and data structures in Redis',
    programs: ['@modelcontextprotocol/server-redis', 'redis-mcp-server', 'mcp/redis'],
  },
  supabase: {
    purpose: 'Supabase projects: tables, SQL, migrations, edge functions, logs and branches',
    programs: ['@supabase/mcp-server-supabase', 'mcp-server-supabase'],
    addresses: ['mcp.supabase.com'],
  },
  docker: {
    purpose: 'Docker: running, inspecting and removing containers, images, networks and volumes',
    programs: ['mcp-server-docker'],
  },
  kubernetes: {
    purpose: 'Kubernetes clusters: pods, logs, deployments and other resources, Helm releases',
    programs: [
      'mcp-server-kubernetes',
      'kubernetes-mcp-server',
      'flux159/mcp-server-kubernetes',
      'quay.io/containers/kubernetes_mcp_server',
      'mcp/kubernetes',
    ],
  },
  cloudflare: {
    purpose: 'Cloudflare: Workers, storage, logs, analytics and documentation, as this server has them',
    programs: ['@cloudflare/mcp-server-cloudflare'],
    addresses: ['mcp.cloudflare.com', '.mcp.cloudflare.com'],
  },
} as const satisfies Record<string, Known>;

export type KnownId = keyof typeof ENTRIES;

/** Servers with instructions in roles.ts. brands.ts contains more, of which only the purpose is known. */
export const KNOWN: Readonly<Record<KnownId, Known>> = ENTRIES;
