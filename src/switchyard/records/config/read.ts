import { isUtf8 } from 'node:buffer';
import { basename, dirname, join, resolve } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { readRegularFile } from '../../../shared/regular-file.ts';
import { nameOfBare } from '../git/bare.ts';
import { checkoutOf, isBare } from '../git/repository.ts';
import { slug } from '../names.ts';
import { expandHome, realPath } from '../paths.ts';
import type { ProjectConfig } from './definition.ts';
import { readEnvPaths } from './env-paths.ts';
import { parseYardToml } from './parse-toml.ts';
import { readProfiles } from './profiles.ts';
import { configError, createReport, quoteValue } from './report.ts';
import { readServices } from './services.ts';
import { openTable, type Table } from './table.ts';

/** Outside the range that systems use for outgoing connections. */
export const DEFAULT_PORTS = { start: 20_000, end: 29_999 } as const;
export const DEFAULT_PROXY = { host: '127.0.0.1', port: 7331, tld: 'localhost' } as const;

/** Reads and validates a `switchyard.toml`. Throws YARD_CONFIG with file, line and key. */
export function readConfig(file: string): ProjectConfig {
  const path = withoutLinks(resolve(file));
  const root = dirname(path);
  const text = readText(path);
  const report = createReport(path, text);
  const top = openTable(report, parseYardToml(path, text));

  const project = readProject(top.table('project'), root);
  const envTable = top.table('env');
  const env = { link: readEnvPaths(envTable, 'link'), copy: readEnvPaths(envTable, 'copy') };
  envTable.finish();
  const proxy = readProxy(top.table('proxy'));
  const ports = readPorts(top.table('ports'));
  const services = readServices(top);
  const names = services.map((service) => service.name);
  const profiles = readProfiles(top, names);
  top.finish();
  return { root, file: path, ...project, env, proxy, ports, services, profiles, warnings: report.warnings };
}

/** Resolves the directory, not the file: if the file is a link, the project is where the link is. */
function withoutLinks(file: string): string {
  return join(realPath(dirname(file)), basename(file));
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readRegularFile(file, { maxBytes: LARGEST_FILE });
  } catch (error) {
    const code = nodeErrorCode(error);
    const hint =
      code === 'ENOENT'
        ? 'Run `switchyard init` to create one.'
        : code === undefined
          ? 'Check that this is the right file.'
          : 'Check the permissions of the file.';
    throw configError(file, `the file cannot be read (${code ?? messageOf(error)})`, { hint, cause: error });
  }
  // UTF-16, as some editors save it, can pass for UTF-8 with a NUL in every second byte.
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw configError(file, 'the file is not UTF-8 text', { hint: 'Save it again as UTF-8.' });
  }
  return bytes.toString('utf8');
}

const LARGEST_FILE = 1_000_000;

function readProject(table: Table, root: string): Pick<ProjectConfig, 'name' | 'slug' | 'worktreeRoot'> {
  const name = table.text('name')?.trim() ?? defaultName(root);
  // The name is printed to terminals, set in variables and used on single lines.
  // eslint-disable-next-line no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) {
    throw table.error('name', 'must be one line without control characters', 'For example: name = "shop".');
  }
  const written = table.text('worktree_root');
  if (written !== undefined && written.trim() !== written) {
    throw table.error(
      'worktree_root',
      `must be a non-empty path without leading or trailing spaces, but is ${quoteValue(written)}`,
      'Remove the spaces.',
    );
  }
  table.finish();
  const worktreeRoot = written === undefined ? undefined : resolve(root, expandHome(written));
  return { name, slug: slug(name), worktreeRoot };
}

/** A worktree of a bare repository is named after its branch. */
function defaultName(root: string): string {
  const checkout = checkoutOf(root);
  const isTop = checkout?.linked === true && checkout.top === root;
  if (isTop && isBare(checkout.commonDirectory)) return nameOfBare(checkout.commonDirectory);
  return basename(root) || 'project';
}

function readProxy(table: Table): ProjectConfig['proxy'] {
  const written = table.text('tld') ?? DEFAULT_PROXY.tld;
  const tld = written
    .trim()
    .replace(/^\.+|\.+$/g, '')
    .toLowerCase();
  if (!/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/.test(tld)) {
    throw table.error(
      'tld',
      `must be the end of a host name, with letters, digits and dashes, but is ${quoteValue(written)}`,
      'Leave it out for "localhost", which every browser resolves to this machine.',
    );
  }
  const proxy = {
    host: table.host('host') ?? DEFAULT_PROXY.host,
    port: table.port('port') ?? DEFAULT_PROXY.port,
    tld,
  };
  table.finish();
  return proxy;
}

function readPorts(table: Table): ProjectConfig['ports'] {
  const start = table.port('start') ?? DEFAULT_PORTS.start;
  const end = table.port('end') ?? DEFAULT_PORTS.end;
  table.finish();
  if (start <= end) return { start, end };
  throw table.error(
    'end',
    `must not be lower than ports.start, but ${end} is lower than ${start}`,
    'Swap them, or set the one that is missing.',
  );
}
