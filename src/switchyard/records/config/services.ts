import { didYouMean } from '../../../shared/nearest.ts';
import { slug } from '../names.ts';
import type { HostHeader, ServiceDefinition } from './definition.ts';
import { innerPathProblem } from './inner-path.ts';
import { asLoopback } from './loopback.ts';
import { quoteValue } from './report.ts';
import { shellSyntaxIn } from './shell-syntax.ts';
import { namedTables, type Table } from './table.ts';

const READY_TIMEOUT = 15;
const LONGEST_READY_TIMEOUT = 600;

/** `[services.<name>]`, in the order of the file. At least one is required. */
export function readServices(root: Table): readonly ServiceDefinition[] {
  const parent = root.table('services');
  const tables = namedTables(parent, 'service');
  if (tables.size === 0) {
    throw root.error(
      'services',
      'is missing: at least one [services.<name>] table is required',
      root.guess('services') ??
        'Add [services.web] with a command, or run `switchyard init` to generate one.',
    );
  }
  const services = [...tables].map(([name, table]) => readService(name, table));
  checkDependencies(services, tables);
  warnOfSharedPorts(services, tables);
  return services;
}

function readService(name: string, table: Table): ServiceDefinition {
  const command = table.text('command');
  const definition = {
    name,
    cwd: readCwd(table),
    port: table.port('port'),
    host: table.host('host') ?? '127.0.0.1',
    health: readHealth(table),
    readyTimeout: table.seconds('ready_timeout', LONGEST_READY_TIMEOUT) ?? READY_TIMEOUT,
    dependsOn: [...new Set(table.texts('depends_on').map(slug))],
    hostHeader: readHostHeader(table),
    env: table.variables('env'),
  };
  if (command === undefined) {
    const hint =
      table.guess('command') ?? 'Set the command that starts it, for example command = "npm run dev".';
    throw table.error('command', 'is missing: a command is required', hint);
  }
  warnOfShellSyntax(name, command, table);
  table.finish();
  return { ...definition, command };
}

function warnOfShellSyntax(name: string, command: string, table: Table): void {
  const syntax = shellSyntaxIn(command);
  if (syntax === undefined) return;
  const { found, instead } = syntax;
  const message = `services.${name}.command has \`${found}\`, but commands do not run in a shell. Write ${instead}.`;
  table.warn('shell syntax', 'command', message);
}

function readCwd(table: Table): string {
  const written = table.text('cwd')?.trim() ?? '';
  const path = written.replace(/^(?:\.\/)+/, '').replace(/(?<=.)\/+$/, '');
  if (path === '' || path === '.') return '';
  const problem = innerPathProblem(path, 'it');
  if (problem === undefined) return path;
  throw table.error(
    'cwd',
    `is ${quoteValue(written)}, but ${problem.rule}`,
    'For example: cwd = "packages/api".',
  );
}

function readHostHeader(table: Table): HostHeader {
  const value = table.text('host_header') ?? 'preserve';
  if (value === 'preserve' || value === 'rewrite') return value;
  throw table.error(
    'host_header',
    `must be "preserve" or "rewrite", but is ${quoteValue(value)}`,
    'Leave it out unless the service refuses its named address; then write host_header = "rewrite".',
  );
}

/** A path is requested on the port of the service; a URL as it is, but only on this machine. */
function readHealth(table: Table): string | undefined {
  const health = table.text('health')?.trim();
  if (health === undefined || /^\/(?!\/)\S*$/.test(health) || isLoopbackUrl(health)) return health;
  throw table.error(
    'health',
    `must be a path that begins with / or an http:// URL of a loopback host, but is ${quoteValue(health)}`,
    'For example: health = "/health".',
  );
}

function isLoopbackUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' || url.username !== '' || url.password !== '') return false;
  return asLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1')) !== undefined;
}

type Tables = ReadonlyMap<string, Table>;

function checkDependencies(services: readonly ServiceDefinition[], tables: Tables): void {
  const names = services.map((service) => service.name);
  const byName = new Map(services.map((service) => [service.name, service]));
  for (const { name, dependsOn } of services) {
    const unknown = dependsOn.filter((each) => !byName.has(each));
    const [first] = unknown;
    if (first === undefined) continue;
    throw tableOf(tables, name).error(
      'depends_on',
      `references unknown service(s): ${unknown.join(', ')}`,
      didYouMean(first, names) ?? `Available: ${names.join(', ')}.`,
    );
  }
  const circle = findCircle(byName);
  const [first] = circle;
  if (first === undefined) return;
  throw tableOf(tables, first).error(
    'depends_on',
    `is a dependency cycle: ${circle.join(' -> ')}`,
    'Each service waits for the next one, so none can start; remove one of these dependencies.',
  );
}

function tableOf(tables: Tables, service: string): Table {
  const table = tables.get(service);
  if (table === undefined) throw new Error(`The service ${service} comes from a table.`);
  return table;
}

/** The names along a cycle, ending with the first one again; empty if there is none. Not recursive, because a file may chain thousands. */
function findCircle(services: ReadonlyMap<string, ServiceDefinition>): readonly string[] {
  const done = new Set<string>();
  for (const start of services.keys()) {
    const trail: { readonly name: string; next: number }[] = [{ name: start, next: 0 }];
    const onWay = new Set([start]);
    for (let last = trail.at(-1); last !== undefined; last = trail.at(-1)) {
      const needed = services.get(last.name)?.dependsOn[last.next++];
      if (needed === undefined) {
        done.add(last.name);
        onWay.delete(last.name);
        trail.pop();
      } else if (onWay.has(needed)) {
        const names = trail.map((each) => each.name);
        return [...names.slice(names.indexOf(needed)), needed];
      } else if (!done.has(needed)) {
        trail.push({ name: needed, next: 0 });
        onWay.add(needed);
      }
    }
  }
  return [];
}

/** A warning, not an error: services of different profiles may take turns. */
function warnOfSharedPorts(services: readonly ServiceDefinition[], tables: Tables): void {
  const owners = new Map<number, string>();
  for (const { name, port } of services) {
    if (port === undefined) continue;
    const owner = owners.get(port);
    if (owner === undefined) owners.set(port, name);
    else {
      const message = `services.${name}.port is ${port}, the same as ${owner}: only one of them can be checked out at a time.`;
      tableOf(tables, name).warn('ports', 'port', message);
    }
  }
}
