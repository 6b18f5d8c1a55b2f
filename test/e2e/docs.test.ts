import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { markdownFiles } from '../helpers/markdown-files.ts';
import { createProject, ROOT } from '../helpers/temp-project.ts';

const run = promisify(execFile);
const switchboard = async (...args: string[]) =>
  run(process.execPath, [join(ROOT, 'dist/index.js'), ...args], {
    cwd: createProject().dir,
    env: { ...process.env, GITHUB_TOKEN: 'set' },
  });

const documents = markdownFiles(ROOT, ['*.md', 'docs', 'examples', '.github']);
const text = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

/** The anchors of a page's headings, the way GitHub makes them. */
function sections(page: string): string[] {
  const headings = [...text(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!.toLowerCase());
  return headings.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

describe.each(documents)('%s', (file) => {
  test('every link into the repository leads somewhere', () => {
    const links = [...text(file).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)].map(([, target]) => target!);
    const local = links.filter((target) => !/^[a-z]+:/.test(target));
    expect(local.filter((target) => !existsSync(join(ROOT, dirname(file), target)))).toEqual([]);
  });

  test('every link to a section leads to a heading', () => {
    const links = [...text(file).matchAll(/\]\(([^)#\s:]*)#([^)\s]+)\)/g)];
    const broken = links.filter(([, target, section]) => {
      const page = target === '' ? file : join(dirname(file), target!);
      return page.endsWith('.md') && !sections(page).includes(section!);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });

  test('every path and script it names exists', () => {
    const paths = [
      ...text(file).matchAll(/`((?:src|test|docs|examples|bench|scripts|\.ci)\/[\w./-]*)`/g),
    ].map(([, path]) => path!);
    expect(paths.filter((path) => !path.includes('NNNN') && !existsSync(join(ROOT, path)))).toEqual([]);
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const named = [...text(file).matchAll(/npm run ([\w-]+(?::[\w-]+)*)/g)].map(([, script]) => script!);
    expect(named.filter((script) => !(script in scripts))).toEqual([]);
  });
});

test('every flag that a page shows with switchboard is in its help', async () => {
  const { stdout: overview } = await switchboard('--help');
  const commands = [
    ...['list', 'tools', 'call', 'dry-run', 'doctor', 'trust', 'auth', 'add', 'edit', 'remove', 'reload'],
    ...['status', 'logs', 'calls', 'console', 'history', 'search'],
    ...['wrap', 'unwrap', 'init', 'install', 'uninstall', 'import', 'eject'],
  ];
  const pages = await Promise.all(commands.map((command) => switchboard('help', command)));
  const help = [overview, ...pages.map(({ stdout }) => stdout)].join('\n');
  const known = new Set([...help.matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag));
  const shown = documents.flatMap((file) =>
    text(file)
      .split('\n')
      .filter((line) => /switchboard|^All of them take/.test(line))
      // What stands before the program's own name belongs to another program.
      .flatMap((line) =>
        [...line.replace(/^.*?(switchboard|dist\/index\.js)/, '').matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(
          ([flag]) => `${relative('.', file)}: ${flag}`,
        ),
      ),
  );
  expect(shown.length).toBeGreaterThan(5);
  expect(shown.filter((entry) => !known.has(entry.split(': ')[1]!))).toEqual([]);
});

test('every flag that a page shows with switchyard is in its help', async () => {
  const switchyard = async (...args: string[]) =>
    run(process.execPath, [join(ROOT, 'dist/switchyard.js'), ...args]);
  const { stdout: overview } = await switchyard('--help');
  const commands = [...overview.matchAll(/^ {2}(?:sy )?([a-z]+) /gm)].map(([, name]) => name!);
  expect(commands.length).toBeGreaterThan(15);
  const pages = await Promise.all(
    commands.filter((name) => name !== 'help').map((name) => switchyard('help', name)),
  );
  const second = pages.flatMap(({ stdout }) => [...stdout.matchAll(/^ {2}(mcp) ([a-z]+) /gm)]);
  const parts = await Promise.all(second.map(([, name, part]) => switchyard(name!, part!, '--help')));
  const help = [overview, ...[...pages, ...parts].map(({ stdout }) => stdout)].join('\n');
  const known = new Set([...help.matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag));
  const lines = documents.flatMap((file) =>
    text(file)
      .split('\n')
      .filter((line) => /(switchyard|sy) [a-z]+/.test(line)),
  );
  const shown = lines.flatMap((line) =>
    [...line.matchAll(/\b(?:switchyard|sy) [a-z]+[^`|]*/g)].flatMap(([call]) =>
      [...call.replace(/ -- .*/, '').matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([flag]) => flag),
    ),
  );
  expect(shown.length).toBeGreaterThan(2);
  expect(shown.filter((flag) => !known.has(flag))).toEqual([]);
});

test('the list of commands is what the programs print', async () => {
  await run(process.execPath, [join(ROOT, 'scripts/command-guide.mjs'), '--check']);
});

test('the switchyard.toml that the guide shows is accepted, and means what it says', async () => {
  const [, toml] = /```toml\n([\s\S]*?)```/.exec(text('docs/guide/switchyard.md'))!;
  const project = createProject({ 'switchyard.toml': toml!, '.env': '', 'config/local.json': '{}' });
  const { stdout } = await run(process.execPath, [join(ROOT, 'dist/switchyard.js'), 'doctor', '--json'], {
    cwd: project.dir,
    env: { ...process.env, SWITCHYARD_HOME: project.path('home') },
  }).catch((error: unknown) => error as { stdout: string });
  const found = JSON.parse(stdout);
  expect(found.services).toEqual(['api', 'db', 'web']);
  expect(JSON.stringify(found)).not.toContain('is not a known key');
});

test('every promise in SECURITY.md names the tests that prove it', () => {
  const [, table] = text('SECURITY.md').split('## Promises and their tests');
  const [, , ...promises] = table!.split('\n').filter((line) => line.startsWith('|'));
  expect(promises.length).toBeGreaterThan(10);
  // That they exist is tested with all other paths.
  expect(promises.filter((line) => !/`(test|scripts)\/\S+`[^|]*\|$/.test(line))).toEqual([]);
});

test('the summary of conformance has the totals of the data', () => {
  type Totals = Record<string, Record<'scored' | 'others', { passed: number; of: number }>>;
  const { runs, date, versions } = JSON.parse(text('docs/data/conformance.json')) as {
    date: string;
    versions: Record<string, string>;
    runs: { revision: string; side: string; totals: Totals }[];
  };
  const page = text('docs/guide/conformance.md').replace(/ +/g, ' ');
  const facts = [date, ...Object.values(versions).map((version) => version.replace(/^v/, ''))];
  const rows = runs.flatMap(({ revision, side, totals }) =>
    Object.entries(totals).map(([leg, { scored, others }]) => {
      const counts = [scored, others].map(({ passed, of }) => `${passed} of ${of}`);
      return `| ${[revision, side, side === 'client' ? side : leg, ...counts].join(' | ')} |`;
    }),
  );
  expect([...facts, ...rows].filter((fact) => !page.includes(fact))).toEqual([]);
});

test('every configuration the README shows is accepted without a warning', async () => {
  const blocks = [...text('README.md').matchAll(/```jsonc?\n([\s\S]*?)```/g)].map(([, block]) => block!);
  const configurations = blocks.filter((block) => /^\s*"(mcpServers|suites)"/m.test(block));
  expect(configurations.length).toBeGreaterThanOrEqual(1);
  for (const configuration of configurations) {
    const project = createProject({ 'switchboard.config.json': configuration });
    const { stderr, stdout } = await switchboard('list', '--config', project.path('switchboard.config.json'));
    expect(stderr).toBe('');
    expect(stdout).toContain('npx');
  }
});
