/** Completion in real shells, of every program, and that it knows every command and every flag there is. */
import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMON_FLAGS, GLOBAL_FLAGS } from '../../src/cli/switchboard/flags.ts';
import type { Flag } from '../../src/cli/kit/arguments.ts';
import { commandsOf } from '../../src/cli/switchboard/commands.ts';
import { candidates, type CompletedCommand } from '../../src/cli/kit/completion/candidates.ts';
import { mcpmux, switchboard, mcpProxyServer } from '../../src/cli/switchboard/variants.ts';
import { switchyard } from '../../src/cli/switchyard/main.ts';
import { programEnv } from '../helpers/run-program.ts';
import { createProject, ROOT, type Project } from '../helpers/temp-project.ts';

const PROGRAMS = {
  switchboard: 'index.js',
  'mcp-proxy-server': 'mcp-proxy-server.js',
  mcpmux: 'mcpmux.js',
  sy: 'switchyard.js',
};
const installed = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;
const describeIn = (shell: string) => (installed(shell) ? describe : describe.skip);

/** A project with servers for every program, and the programs on its PATH. */
function shellProject(): { project: Project; env: Record<string, string | undefined> } {
  const servers = { mcpServers: { alpha: { command: 'x' }, beta: { command: 'y', disabled: true } } };
  const project = createProject({
    'switchboard.config.json': servers,
    'config.json': servers,
    'other.json': { mcpServers: { gamma: { command: 'z' } } },
    'bin/.keep': '',
  });
  for (const [name, file] of Object.entries(PROGRAMS))
    symlinkSync(join(ROOT, 'dist', file), project.path('bin', name));
  const env = programEnv(project);
  return { project, env: { ...env, PATH: `${project.path('bin')}${delimiter}${env.PATH ?? ''}` } };
}

function runShell(shell: string, args: readonly string[], script: string): string[] {
  const { project, env } = shellProject();
  const ran = spawnSync(shell, [...args, '-c', script], { cwd: project.dir, env, encoding: 'utf8' });
  expect(ran.stderr).toBe('');
  return ran.stdout.split('\n').filter((line) => line !== '');
}

/** Lines that are typed up to the cursor, and candidates that must be among what comes. */
const TYPED: readonly (readonly [
  program: keyof typeof PROGRAMS,
  line: string,
  expected: readonly string[],
])[] = [
  ['switchboard', 'switchboard rel', ['reload']],
  ['switchboard', 'switchboard remove ', ['alpha', 'beta']],
  ['switchboard', 'switchboard -c other.json call ', ['gamma']],
  ['switchboard', 'switchboard doctor --ver', ['--verbose']],
  ['switchboard', 'switchboard list --log-level de', ['debug']],
  ['switchboard', 'switchboard install claude-c', ['claude-code']],
  ['switchboard', 'switchboard list --config oth', ['other.json']],
  ['mcp-proxy-server', 'mcp-proxy-server tools a', ['alpha']],
  ['mcpmux', 'mcpmux --config other.json tools g', ['gamma']],
  ['sy', 'sy mcp sm', ['smoke']],
];

describeIn('bash')('in bash', () => {
  test.each(TYPED)('%s: %s', (program, line, expected) => {
    const words = line.split(' ');
    const script = [
      `source <(${program} completion bash)`,
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}`,
      `$(complete -p ${program} | sed 's/.*-F \\([^ ]*\\).*/\\1/') ${program}`,
      `printf '%s\\n' "\${COMPREPLY[@]}"`,
    ].join('\n');
    expect(runShell('bash', ['--norc'], script)).toEqual(expected);
  });
});

describeIn('fish')('in fish', () => {
  test.each(TYPED)('%s: %s', (program, line, expected) => {
    const script = `${program} completion fish | source; complete -C '${line}'`;
    const found = runShell('fish', ['--no-config'], script).map((each) => each.split('\t')[0]);
    expect(found).toEqual(expected);
  });
});

describeIn('zsh')('in zsh', () => {
  test.each(TYPED)('%s: %s', (program, line, expected) => {
    // The builtins that work only while somebody types print what they are given.
    const words = line.split(' ');
    const script = [
      'compdef() { completer=$1 }',
      'compadd() { print -l -- $names }',
      '_files() { print -l -- $PREFIX*(N) }',
      `source <(${program} completion zsh)`,
      `words=(${words.map((word) => `'${word}'`).join(' ')}) CURRENT=${words.length} PREFIX='${words.at(-1)!}'`,
      '$completer',
    ].join('\n');
    expect(runShell('zsh', ['-f'], script)).toEqual(expected);
  });
});

describe('every command and every flag is offered', () => {
  const words = async (
    typed: readonly string[],
    commands: readonly CompletedCommand[],
    topFlags: readonly Flag[],
    commonFlags: readonly Flag[],
  ): Promise<string[]> => {
    const names = () => Promise.resolve([]);
    const lines = await candidates(typed, { commands, topFlags, commonFlags, names });
    return lines.map((line) => line.split('\t')[0]!);
  };

  test.each<[string, readonly CompletedCommand[], readonly Flag[], readonly Flag[]]>([
    ['switchboard', commandsOf(switchboard), GLOBAL_FLAGS, COMMON_FLAGS],
    ['mcp-proxy-server', commandsOf(mcpProxyServer), GLOBAL_FLAGS, COMMON_FLAGS],
    ['mcpmux', commandsOf(mcpmux), GLOBAL_FLAGS, COMMON_FLAGS],
    ['switchyard', switchyard.commands, switchyard.topFlags, switchyard.commonFlags],
  ])('of %s', async (_, commands, topFlags, commonFlags) => {
    const complete = (...typed: string[]) => words(typed, commands, topFlags, commonFlags);
    const shown = commands.filter(({ hidden }) => hidden !== true);
    expect(await complete('')).toEqual([...shown.map(({ name }) => name), 'help']);
    expect(await complete('-')).toEqual(topFlags.map(({ name }) => `--${name}`));
    for (const command of shown.flatMap((each) => [each, ...(each.parts ?? [])])) {
      const flags = [...commonFlags, ...(await command.load()).flags].filter(({ hidden }) => hidden !== true);
      expect(await complete(...command.name.split(' '), '-')).toEqual(flags.map(({ name }) => `--${name}`));
    }
  });
});
