import { DEFAULT_PORTS, DEFAULT_PROXY } from '../../records/config/read.ts';
import { hostName, slug, urlOf } from '../../records/names.ts';
import type { DetectedService } from './detect.ts';

export interface TextParts {
  /** The name of the directory. */
  readonly name: string;
  readonly service: DetectedService;
  /** Paths for `env.link`. */
  readonly link: readonly string[];
}

/** A `switchyard.toml` for first-time users. */
export function configText({ name, service, link }: TextParts): string {
  const project = slug(name);
  const url = urlOf(hostName(service.name, 'main', project, DEFAULT_PROXY.tld), DEFAULT_PROXY.port);
  const lines = [
    '# Switchyard runs the services of this repository, for many branches side by side.',
    '# Every branch gets free ports of its own, and addresses that stay the same.',
    '# So commands must use the environment variables PORT and HOST, or {port} and {host} as below.',
    '#',
    '#   switchyard up                start the services of this branch',
    '#   switchyard create BRANCH     create a worktree for another branch',
    '#   switchyard status            show what runs, and where',
    '#   switchyard down              stop the services',
    '',
    '[project]',
    `name = ${toml(project)}`,
    '',
    '# Files outside git that a new worktree needs, for example ".env":',
    '# linked (one file for all branches) or copied (one for each).',
    ...(service.worktreeNote === undefined ? [] : [`# ${service.worktreeNote}`]),
    '[env]',
    `link = ${list(link)}`,
    'copy = []',
    '',
    `# One port for all services, each under its own name: ${url}`,
    '[proxy]',
    `host = ${toml(DEFAULT_PROXY.host)}`,
    `port = ${DEFAULT_PROXY.port}`,
    `tld = ${toml(DEFAULT_PROXY.tld)}`,
    '',
    '# The range for the ports of services.',
    '[ports]',
    `start = ${DEFAULT_PORTS.start}`,
    `end = ${DEFAULT_PORTS.end}`,
    '',
    `# ${service.reason}`,
    `[services.${service.name}]`,
    '# A program and its arguments. It does not run in a shell: no &&, pipes or $VARIABLES.',
    `command = ${toml(service.command)}`,
    '# The canonical port. It points to the branch that you choose with: switchyard checkout BRANCH',
    `port = ${service.port}`,
  ];
  if (service.readyTimeout !== undefined) {
    lines.push('# Seconds to wait until it is ready.', `ready_timeout = ${service.readyTimeout}`);
  }
  if (service.refusesNames === true) {
    lines.push(
      '# This version rejects unknown host names, so the proxy sends the address of the service instead.',
      'host_header = "rewrite"',
    );
  }
  const env = Object.entries(service.env ?? {});
  if (env.length > 0) {
    lines.push(`env = { ${env.map(([key, value]) => `${key} = ${toml(value)}`).join(', ')} }`);
  }
  lines.push('', ...FURTHER, '');
  return lines.join('\n');
}

/** Settings that users could not guess. */
const FURTHER = [
  '# Other settings of a service:',
  '#   health = "/health"       a path that responds once it is ready',
  '#   ready_timeout = 60       seconds until it must be ready (default 15; 0 if it does not listen)',
  '#   cwd = "packages/web"     where it runs, below this directory',
  '#   depends_on = ["api"]     services that must be ready first',
  '#   env = { DEBUG = "1" }    environment variables for this service',
  '#   host_header = "rewrite"  if it rejects the host name that the browser sends',
  '#',
  '# A second service. Others reach it by {api_url} or the variable SWITCHYARD_API_URL, and pages in a browser by',
  '# {api_public_url} or SWITCHYARD_API_PUBLIC_URL:',
  '#   [services.api]',
  '#   command = "node api.js"',
  '#   port = 4000',
  '#',
  '# Services that start together: switchyard up --profile backend',
  '#   [profiles.backend]',
  '#   services = ["api"]',
];

function list(paths: readonly string[]): string {
  return `[${paths.map(toml).join(', ')}]`;
}

/** JSON escaping is enough: no character here needs escaping only in TOML. */
function toml(text: string): string {
  return JSON.stringify(text);
}
