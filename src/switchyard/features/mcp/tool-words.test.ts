import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { readArguments } from './arguments.ts';
import { dataInToolWords, inToolWords } from './tool-words.ts';
import { YARD_TOOLS } from './tools.ts';

test.each([
  ['Run `switchyard up`, which starts it.', 'Run `switchyard_up`, which starts it.'],
  [
    'Start it with `switchyard up feature/x web`.',
    'Start it with `switchyard_up {"branch":"feature/x","services":["web"]}`.',
  ],
  ["`switchyard up --branch 'a;b' web api`", '`switchyard_up {"branch":"a;b","services":["web","api"]}`'],
  [`\`switchyard create 'it'\\''s'\``, '`switchyard_create {"branch":"it\'s"}`'],
  ['`switchyard create x --force-env`', '`switchyard_create {"force_env":true,"branch":"x"}`'],
  ['`switchyard logs web --branch x`', '`switchyard_logs {"branch":"x","service":"web"}`'],
  ['`switchyard where web x`', '`switchyard_where {"service":"web","branch":"x"}`'],
  ['`switchyard logs web --lines 5`', '`switchyard_logs {"lines":5,"branch":"web"}`'],
  [
    '`switchyard down web --branch x` or `switchyard status`',
    '`switchyard_down {"branch":"x","services":["web"]}` or `switchyard_status`',
  ],
  // A command that is only mentioned.
  ['End it before `switchyard checkout`.', 'End it before `switchyard_checkout`.'],
])('%s', (text, said) => {
  expect(inToolWords(text)).toBe(said);
});

test.each([
  'Run `switchyard init` there first.',
  'If its owner trusts it, they run `switchyard mcp install` there.',
  'Forget it with `switchyard down --force web`.',
  'Run `switchyard create x y`.',
  "Run `switchyard create 'x`.",
  'Run `switchyard create x --base`.',
  'Run `git worktree list`; switchyard up is what we do.',
])('what no tool does stays: %s', (text) => {
  expect(inToolWords(text)).toBe(text);
});

test('output of services is unchanged', () => {
  const line = 'try `switchyard up`';
  const log = { lines: [line], recent_errors: [line], command: line };
  expect(dataInToolWords({ messages: [line], logs: [log], pid: null })).toEqual({
    messages: ['try `switchyard_up`'],
    logs: [log],
    pid: null,
  });
});

const FEATURES = dirname(dirname(fileURLToPath(import.meta.url)));
const SWITCHYARD = dirname(FEATURES);

/** Texts that agents never get over MCP: those of the command line, of pages for browsers, and of daemons. */
const ELSEWHERE = ['init/', 'skill/', 'proxy/refusal.ts', 'forwarder/forwarded-port.ts', 'mcp/smoke.ts'].map(
  (path) => join('features', path),
);

/** Commands that only a person or a shell can run. */
const NO_TOOL = /^(?:init|mcp|prune|remove|rename|restart|proxy|down --force|down --project|status --all)\b/;

/** All texts in our sources, with `x` for each placeholder. */
function textsOf(file: string): string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) texts.push(node.text);
    else if (ts.isTemplateExpression(node))
      texts.push(node.head.text + node.templateSpans.map(({ literal }) => `x${literal.text}`).join(''));
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest));
  return texts;
}

test('every command in our texts can be shown to an agent', () => {
  const files = readdirSync(SWITCHYARD, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .filter((path) => !ELSEWHERE.some((place) => path.startsWith(place)));
  const commands = files.flatMap((path) =>
    textsOf(join(SWITCHYARD, path)).flatMap((text) =>
      [...text.matchAll(/(`?)\b(?:switchyard|sy) ([a-z][^`]*)(`?)/g)].map(
        ([whole, open, line = '', close]) => ({
          path,
          whole,
          line,
          isSpan: open !== '' && close !== '',
        }),
      ),
    ),
  );
  expect(commands.length).toBeGreaterThan(20);
  for (const { path, whole, line, isSpan } of commands) {
    expect(isSpan, `${path}: put the command between backticks: ${whole}`).toBe(true);
    const said = inToolWords(whole);
    const [, name, json = '{}'] = /^`(switchyard_\w+)(?: (.*))?`$/.exec(said) ?? [];
    if (name === undefined) expect(line, `${path}: no tool does this: ${whole}`).toMatch(NO_TOOL);
    else {
      const tool = YARD_TOOLS.find((each) => each.name === name)!;
      const given = JSON.parse(json);
      if (json !== '{}') expect(() => readArguments(given, tool.arguments), `${path}: ${said}`).not.toThrow();
    }
  }
});
