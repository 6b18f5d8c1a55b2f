import fc from 'fast-check';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SwitchboardError } from '../../../shared/errors.ts';
import type { ProjectConfig } from './definition.ts';
import { readConfig } from './read.ts';

let root: string;
let file: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'yard-config-')));
  file = join(root, 'switchyard.toml');
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function read(text: string | Buffer): ProjectConfig {
  writeFileSync(file, text);
  return readConfig(file);
}

/** The error of readConfig, as message and hint. */
function complaint(text: string | Buffer): { message: string; hint: string } {
  writeFileSync(file, text);
  try {
    readConfig(file);
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    expect(error.code).toBe('YARD_CONFIG');
    expect(error.hint).toMatch(/[.?] The file is .*\.$/);
    return { message: error.message, hint: error.hint ?? '' };
  }
  throw new Error(`Accepted: ${text.toString()}`);
}

/** A complete file that starts with these lines. */
const around = (lines: string): string => `${lines}\n[services.last]\ncommand = "serve"\n`;

describe('a file with one service and nothing else', () => {
  it('gets the defaults', () => {
    expect(read('[services.web]\ncommand = "npm run dev"\n')).toEqual({
      root,
      file,
      name: basename(root),
      slug: basename(root)
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '-'),
      worktreeRoot: undefined,
      env: { link: [], copy: [] },
      proxy: { host: '127.0.0.1', port: 7331, tld: 'localhost' },
      ports: { start: 20000, end: 29999 },
      services: [
        {
          name: 'web',
          command: 'npm run dev',
          cwd: '',
          port: undefined,
          host: '127.0.0.1',
          health: undefined,
          readyTimeout: 15,
          hostHeader: 'preserve',
          dependsOn: [],
          env: {},
        },
      ],
      profiles: [],
      warnings: [],
    });
  });

  it('may start with a byte order mark and have Windows line endings', () => {
    expect(read('\ufeff[services.web]\r\ncommand = "a"\r\n').services[0]!.command).toBe('a');
  });

  it('belongs to its real directory', () => {
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'link'));
    writeFileSync(join(root, 'real/switchyard.toml'), '[services.web]\ncommand = "a"\n');
    const config = readConfig(join(root, 'link/switchyard.toml'));
    expect(config).toMatchObject({ root: join(root, 'real'), file: join(root, 'real/switchyard.toml') });
  });
});

describe('a full file', () => {
  it('is read completely', () => {
    const config = read(`
[project]
name = "My Shop"
worktree_root = "../trees"
[env]
link = [".env", "config/.env.local"]
copy = ["certs"]
[proxy]
host = "::1"
port = 8080
tld = ".Dev.Localhost."
[ports]
start = 30_000
end = 0x7fff
[services.web]
command = "npm run dev -- --port {port}"
port = 3000
host = " localhost "
health = "/health?full=1"
ready_timeout = 2.5
host_header = "rewrite"
depends_on = ["API", "api"]
env = { DEBUG = true, LEVEL = 3, VERSION = 3.10, EMPTY = "", __proto__ = "kept" }
[services.Api]
command = "node api.js"
health = "http://[::1]:9000/ok"
[profiles."Back End"]
services = ["API"]
env.POSTGRES_PORT = 5432
`);
    expect(config).toMatchObject({
      name: 'My Shop',
      slug: 'my-shop',
      worktreeRoot: join(root, '../trees'),
      env: { link: ['.env', 'config/.env.local'], copy: ['certs'] },
      proxy: { host: '::1', port: 8080, tld: 'dev.localhost' },
      ports: { start: 30000, end: 32767 },
      profiles: [{ name: 'back-end', services: ['api'], env: { POSTGRES_PORT: '5432' } }],
      warnings: [],
    });
    expect(config.services).toMatchObject([
      {
        name: 'web',
        port: 3000,
        host: 'localhost',
        health: '/health?full=1',
        readyTimeout: 2.5,
        hostHeader: 'rewrite',
        dependsOn: ['api'],
      },
      { name: 'api', health: 'http://[::1]:9000/ok' },
    ]);
    expect(Object.entries(config.services[0]!.env)).toEqual([
      ['DEBUG', 'true'],
      ['LEVEL', '3'],
      ['VERSION', '3.10'],
      ['EMPTY', ''],
      ['__proto__', 'kept'],
    ]);
  });

  it('keeps the order of its services, including numeric names', () => {
    const text = ['web', '10', 'api', '2'].map((name) => `[services.${name}]\ncommand = "a"\n`).join('');
    expect(read(text).services.map((service) => service.name)).toEqual(['web', '10', 'api', '2']);
  });

  it.each([
    ['~/trees', join(homedir(), 'trees')],
    ['~', homedir()],
    ['/elsewhere', '/elsewhere'],
  ])('takes %s for a place of worktrees', (written, place) => {
    expect(read(around(`[project]\nworktree_root = "${written}"`)).worktreeRoot).toBe(place);
  });

  it.each(['127.0.0.1', 'localhost', '::1'])('lets services listen on %s', (host) => {
    expect(read(`[services.web]\ncommand = "a"\nhost = "${host}"`).services[0]!.host).toBe(host);
  });
});

describe('errors have line, key, value and rule:', () => {
  it.each([
    [
      '[services.web]\ncommand = "a"\nport = "80a"',
      '3: services.web.port must be a whole number from 1 to 65535, but is "80a".',
    ],
    [
      '[services.web]\ncommand = "a"\nport = 0',
      '3: services.web.port must be a whole number from 1 to 65535, but is 0.',
    ],
    [
      '[services.web]\ncommand = "a"\nport = 80.0',
      '3: services.web.port must be a whole number from 1 to 65535, but is 80.0.',
    ],
    [
      '[services.web]\ncommand = "a"\nport = 99999999999999999999',
      '3: services.web.port must be a whole number from 1 to 65535, but is 99999999999999999999.',
    ],
    ['[services.web]\nport = 80', '1: services.web.command is missing: a command is required.'],
    ['[services.web]\ncommand = ""', '2: services.web.command must be a non-empty string, but is "".'],
    [
      '[services.web]\ncommand = ["npm", "start"]',
      '2: services.web.command must be a string, but is a list.',
    ],
    [
      '[services.web]\ncommand = "a"\nhost = "0.0.0.0"',
      '3: services.web.host must be a loopback host ("127.0.0.1", "localhost", "::1"), but is "0.0.0.0".',
    ],
    [
      '[services.web]\ncommand = "a"\nready_timeout = 601',
      '3: services.web.ready_timeout must be a number of seconds from 0 to 600, but is 601.',
    ],
    [
      '[services.web]\ncommand = "a"\nready_timeout = nan',
      '3: services.web.ready_timeout must be a number of seconds from 0 to 600, but is nan.',
    ],
    [
      '[services.web]\ncommand = "a"\nready_timeout = -1',
      '3: services.web.ready_timeout must be a number of seconds from 0 to 600, but is -1.',
    ],
    [
      '[services.web]\ncommand = "a"\ncwd = "../api"',
      '3: services.web.cwd is "../api", but it must stay inside the project, without ".", ".." or empty parts.',
    ],
    [
      '[services.web]\ncommand = "a"\ncwd = "/srv/api"',
      '3: services.web.cwd is "/srv/api", but it must be relative.',
    ],
    ['[services.web]\ncommand = "a"\ncwd = ["api"]', '3: services.web.cwd must be a string, but is a list.'],
    [
      '[services.web]\ncommand = "a"\nhost_header = "backend"',
      '3: services.web.host_header must be "preserve" or "rewrite", but is "backend".',
    ],
    [
      '[services.web]\ncommand = "a"\nhealth = "health"',
      '3: services.web.health must be a path that begins with / or an http:// URL of a loopback host, but is "health".',
    ],
    [
      '[services.web]\ncommand = "a"\nhealth = "http://example.com/"',
      '3: services.web.health must be a path that begins with / or an http:// URL of a loopback host, but is "http://example.com/".',
    ],
    [
      '[services.web]\ncommand = "a"\nhealth = "//example.com/"',
      '3: services.web.health must be a path that begins with / or an http:// URL of a loopback host, but is "//example.com/".',
    ],
    ['[services.web]\ncommand = "a"\nenv = "A=1"', '3: services.web.env must be a table, but is "A=1".'],
    [
      '[services.web]\ncommand = "a"\n[services.web.env]\nA = [1]',
      '4: services.web.env.A must be a string, a number or a boolean, but is a list.',
    ],
    [
      '[services.web]\ncommand = "a"\n[services.web.env]\n"A=B" = "1"',
      '4: services.web.env."A=B" is not a valid variable name.',
    ],
    [
      '[services.web]\ncommand = "a"\n[services.web.env]\nA = "\\u0000"',
      '4: services.web.env.A must be a string, a number or a boolean, but has a NUL character.',
    ],
    [
      '[services.web]\ncommand = "a"\ndepends_on = ["db", "cache"]',
      '3: services.web.depends_on references unknown service(s): db, cache.',
    ],
    [
      '[services.web]\ncommand = "a"\ndepends_on = ["web"]',
      '3: services.web.depends_on is a dependency cycle: web -> web.',
    ],
    ['[[services]]\ncommand = "a"', '1: services must be a table, but is a list.'],
    ['[services]\nweb = "npm start"', '2: services.web must be a table, but is "npm start".'],
    [
      '[services."My App"]\ncommand = "a"\n[services.my-app]\ncommand = "b"',
      '3: services.my-app conflicts with "My App": service names collide after slugging, both become "my-app".',
    ],
    ['[project]\nname = "x"', '1: services is missing: at least one [services.<name>] table is required.'],
    ['', '1: services is missing: at least one [services.<name>] table is required.'],
  ])('%j', (text, expected) => {
    expect(complaint(text).message).toBe(`switchyard.toml:${expected}`);
  });

  it.each([
    ['project = 1', '1: project must be a table, but is 1.'],
    ['[project]\nname = 1', '2: project.name must be a string, but is 1.'],
    ['[project]\nname = "a\\nb"', '2: project.name must be one line without control characters.'],
    ['[project]\nworktree_root = 5', '2: project.worktree_root must be a string, but is 5.'],
    ['[project]\nworktree_root = " "', '2: project.worktree_root must be a non-empty string, but is " ".'],
    [
      '[project]\nworktree_root = "trees "',
      '2: project.worktree_root must be a non-empty path without leading or trailing spaces, but is "trees ".',
    ],
    [
      '[proxy]\nhost = "192.168.0.1"',
      '2: proxy.host must be a loopback host ("127.0.0.1", "localhost", "::1"), but is "192.168.0.1".',
    ],
    ['[proxy]\nport = 70000', '2: proxy.port must be a whole number from 1 to 65535, but is 70000.'],
    [
      '[proxy]\ntld = "..."',
      '2: proxy.tld must be the end of a host name, with letters, digits and dashes, but is "...".',
    ],
    [
      '[ports]\nstart = 30000',
      '1: ports.end must not be lower than ports.start, but 29999 is lower than 30000.',
    ],
    [
      '[ports]\nstart = 9\nend = 8',
      '3: ports.end must not be lower than ports.start, but 8 is lower than 9.',
    ],
    ['[env]\nlink = ".env"', '2: env.link must be a list of strings, but is ".env".'],
    ['[env]\nlink = [\n".env",\n5]', '4: env.link must be a list of strings, but has 5 in it.'],
    [
      '[profiles.x]\nservices = ["nothing"]',
      '2: profiles.x.services references unknown service(s): nothing.',
    ],
    [
      '[profiles.x]\n[profiles."X!"]',
      '2: profiles."X!" conflicts with "x": profile names collide after slugging, both become "x".',
    ],
    ['[profiles.x]\nenv = 1', '2: profiles.x.env must be a table, but is 1.'],
  ])('%j', (lines, expected) => {
    expect(complaint(around(lines)).message).toBe(`switchyard.toml:${expected}`);
  });

  it.each([
    ['', 'invalid env path'],
    [' .env', 'invalid env path'],
    ['/etc/passwd', 'must be relative'],
    ['C:\\\\secrets', 'must be relative'],
    ['~/.ssh', 'must be relative'],
    ['..', 'must stay inside the project'],
    ['.', 'must stay inside the project'],
    ['a/../b', 'must stay inside the project'],
    ['a\\\\..\\\\b', 'must stay inside the project'],
    ['a//b', 'must stay inside the project'],
    ['certs/', 'must not end in a slash'],
    ['.git/config', "git's own directory"],
  ])('the env path %j', (path, rule) => {
    for (const key of ['link', 'copy']) {
      const { message } = complaint(around(`[env]\n${key} = ["${path}"]`));
      expect(message).toContain(`switchyard.toml:2: env.${key} has `);
      expect(message).toContain(rule);
    }
  });

  it('a dependency cycle, with its path', () => {
    const text = ['a', 'b', 'c', 'd']
      .map((name, index) => `[services.${name}]\ncommand = "x"\ndepends_on = ["${'bcdb'[index]!}"]\n`)
      .join('');
    expect(complaint(text).message).toBe(
      'switchyard.toml:6: services.b.depends_on is a dependency cycle: b -> c -> d -> b.',
    );
  });

  it('invalid TOML, with the line itself', () => {
    const { message, hint } = complaint('[services.web]\ncommand = npm run dev\n');
    expect(message).toBe(
      'switchyard.toml:2: this is not valid TOML, at column 11 (invalid value): command = npm run dev.',
    );
    expect(hint).toContain('Put text in quotes');
  });

  it('a duplicate key', () => {
    const { message, hint } = complaint('[services.web]\ncommand = "a"\ncommand = "b"\n');
    expect(message).toContain('switchyard.toml:3: ');
    expect(hint).toContain('defined twice');
  });
});

describe('the next step', () => {
  it('names the whole path', () => {
    expect(complaint('[services.web]\nport = "80"').hint).toBe(
      `Write the number without quotes. The file is ${file}.`,
    );
  });

  it('suggests the intended key', () => {
    expect(complaint('[services.web]\ncomand = "a"').hint).toContain(
      'Is "comand" a misspelling of "command"?',
    );
    expect(complaint('[service.web]\ncommand = "a"').hint).toContain(
      'Is "service" a misspelling of "services"?',
    );
  });

  it('suggests the intended service', () => {
    const hints = [
      complaint('[services.web]\ncommand = "a"\n[services.api]\ncommand = "a"\ndepends_on = ["wep"]').hint,
      complaint('[services.web]\ncommand = "a"\n[profiles.x]\nservices = ["wep"]').hint,
    ];
    for (const hint of hints) expect(hint).toContain('Did you mean "web"?');
  });
});

describe('settings without effect', () => {
  it('are a warning, with the line and a suggestion', () => {
    const { warnings } = read(
      '[services.web]\ncommand = "a"\nready-timeout = 5\n\n[procy]\nport = 1\n[env]\nlinks = []\nzzz = 1\n',
    );
    expect(warnings.map(({ kind }) => kind)).toEqual(Array(4).fill('unknown key'));
    expect(warnings).toMatchObject([
      {
        key: 'env.links',
        line: 8,
        message: 'env.links is not a known key and is ignored. Did you mean "link"?',
      },
      {
        key: 'env.zzz',
        line: 9,
        message: 'env.zzz is not a known key and is ignored. Available: copy, link.',
      },
      {
        key: 'services.web.ready-timeout',
        line: 3,
        message:
          'services.web.ready-timeout is not a known key and is ignored. Did you mean "ready_timeout"?',
      },
      { key: 'procy', line: 5, message: 'procy is not a known key and is ignored. Did you mean "proxy"?' },
    ]);
  });

  it('include shell syntax in a command', () => {
    expect(read('[services.web]\nport = 80\ncommand = "cd api && npm start"\n').warnings).toEqual([
      {
        kind: 'shell syntax',
        key: 'services.web.command',
        line: 3,
        message:
          'services.web.command has `cd api`, but commands do not run in a shell. Write cwd = "api" and command = "npm start".',
      },
    ]);
  });

  it('include a port shared by two services', () => {
    const text = '[services.a]\ncommand = "x"\nport = 80\n[services.b]\ncommand = "x"\nport = 80\n';
    expect(read(text).warnings).toMatchObject([{ key: 'services.b.port', line: 6 }]);
  });
});

describe('an unreadable file', () => {
  it('is missing', () => {
    expect(() => readConfig(file)).toThrow(
      expect.objectContaining({
        code: 'YARD_CONFIG',
        hint: expect.stringContaining('switchyard init') as string,
      }),
    );
  });

  it('is a directory', () => {
    mkdirSync(file);
    expect(() => readConfig(file)).toThrow(expect.objectContaining({ code: 'YARD_CONFIG' }));
  });

  it('is not UTF-8, as some editors save it', () => {
    for (const bytes of [Buffer.from('[services.web]', 'utf16le'), Buffer.from([0x23, 0xff, 0xfe])]) {
      expect(complaint(bytes).message).toBe('switchyard.toml: the file is not UTF-8 text.');
    }
  });

  it.each([
    ['lists', `a = ${'['.repeat(3000)}${']'.repeat(3000)}`],
    ['a key with dots', `${'a.'.repeat(3000)}a = 1`],
    ['a header', `[${'a.'.repeat(3000)}a]`],
  ])('is nested too deep by %s', (_what, text) => {
    expect(complaint(text).message).toMatch(/nested/);
  });

  it('is far too large', () => {
    expect(complaint('#'.repeat(1_000_001)).message).toContain('larger than 1000000 bytes');
  });
});

describe('any content', () => {
  const outcome = (text: string): void => {
    writeFileSync(file, text);
    try {
      const config = readConfig(file);
      expect(config.services.length).toBeGreaterThan(0);
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      expect(error.message).toMatch(/^switchyard\.toml(?::\d+)?: .+\.$/s);
    }
  };

  it('yields a configuration or an error: any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), outcome), { numRuns: 200 });
  });

  it('yields a configuration or an error: any values', () => {
    const name = fc.oneof(
      fc.constantFrom('web', 'api', '1', '__proto__', 'constructor', '""', '"a b"'),
      fc.stringMatching(/^[\w-]{1,5}$/),
    );
    const value = fc.oneof(
      fc.constantFrom(
        '1',
        '"x"',
        '[]',
        '{}',
        '["web"]',
        '[1]',
        'true',
        '1.5',
        'inf',
        '1979-05-27',
        '07:32:00',
        '"\\u0000"',
        '{ a = { b = 1 } }',
        '-1',
        '"::1"',
        '"/x"',
        '"../x"',
        '[[["x"]]]',
      ),
      fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)),
    );
    const key = fc.constantFrom(
      'command',
      'port',
      'host',
      'health',
      'env',
      'env.A',
      'ready_timeout',
      'host_header',
      'cwd',
      'depends_on',
      'name',
      'worktree_root',
      'link',
      'copy',
      'tld',
      'start',
      'end',
      'services',
      'typo',
    );
    const header = fc.oneof(
      fc.constantFrom('[project]', '[env]', '[proxy]', '[ports]', '[services]', '[[services]]', '[profiles]'),
      name.map((each) => `[services.${each}]`),
      name.map((each) => `[profiles.${each}]`),
    );
    const assignment = fc.tuple(key, value).map(([left, right]) => `${left} = ${right}`);
    const table = fc
      .tuple(header, fc.uniqueArray(assignment, { maxLength: 4 }))
      .map(([top, lines]) => [top, ...lines].join('\n'));
    const good = fc.constantFrom('', '[services.web]\ncommand = "a"\n');
    fc.assert(
      fc.property(good, fc.array(table, { maxLength: 4 }), (start, tables) =>
        outcome(start + tables.join('\n')),
      ),
      { numRuns: 600 },
    );
  });

  it('handles a deep and a long file', () => {
    outcome(`a = ${'['.repeat(5000)}`);
    const chain = Array.from(
      { length: 3000 },
      (_, index) => `[services.s${index}]\ncommand = "a"\ndepends_on = ["s${index + 1}"]`,
    );
    expect(read(`${chain.join('\n')}\n[services.s3000]\ncommand = "a"\n`).services).toHaveLength(3001);
    const unknown = Array.from({ length: 20_000 }, (_, index) => `key${index} = 1`).join('\n');
    expect(read(`${unknown}\n[services.web]\ncommand = "a"`).warnings).toHaveLength(20_000);
  });
});
