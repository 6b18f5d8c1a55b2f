import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createProject, ROOT } from '../../test/helpers/temp-project.ts';
import { describeWarning, loadConfig } from './index.ts';

const guide = readFileSync(`${ROOT}/docs/guide/configuration.md`, 'utf8');
const schema = JSON.parse(readFileSync(`${ROOT}/switchboard.config.schema.json`, 'utf8')) as Schema;

interface Schema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: false | Schema;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
}

/** The examples in one language, each with its heading. */
function examples(language: string): [heading: string, block: string][] {
  return guide.split('\n## ').flatMap((section) => {
    const found = section.matchAll(/^```(\w+)\n([\s\S]*?)^```/gm);
    return [...found]
      .filter(([, written]) => written === language)
      .map(([, , block]) => [section.split('\n')[0]!, block!] as [string, string]);
  });
}

/** The keys in all tables that belong there, as [key, default]. */
function rows(where: 'top' | 'server'): [string, string][] {
  return [...guide.matchAll(/^\| `([^`]+)` +\| (top|server|both) +\| ([^|]*?) *\|/gm)]
    .filter(([, , level]) => level === where || level === 'both')
    .map(([, key, , standard]) => [key!, standard!]);
}

/** Keys with dots, as written in the tables; `*` stands for any name. */
function keysOf(within: Schema, stopAt: readonly string[]): [string, Schema][] {
  return Object.entries(within.properties ?? {}).flatMap(([key, value]) => {
    const record = typeof value.additionalProperties === 'object' ? value.additionalProperties : undefined;
    // Of several forms, the one with keys. The others are described for the key itself.
    const form = value.anyOf?.find((each) => each.properties !== undefined);
    if (form !== undefined && !stopAt.includes(key)) {
      const below = keysOf(form, stopAt).map(([rest, found]): [string, Schema] => [`${key}.${rest}`, found]);
      return [[key, value], ...below] as [string, Schema][];
    }
    const inner = record ?? value;
    if (inner.properties === undefined || stopAt.includes(key)) return [[key, value] as [string, Schema]];
    const below = keysOf(inner, stopAt).map(
      ([rest, found]) => [`${key}${record ? '.*' : ''}.${rest}`, found] as [string, Schema],
    );
    return below;
  });
}

describe('the guide to the configuration', () => {
  test.each(examples('jsonc'))('under "%s" shows a configuration without a fault', async (_, block) => {
    const project = createProject({ 'switchboard.config.json': block });
    const { warnings } = await loadConfig({ cwd: project.dir, env: { GITHUB_TOKEN: 'set' } });
    const said = warnings.map(describeWarning);
    // Switchyard is not available on Windows.
    const others = said.filter((each) => !(process.platform === 'win32' && each.includes('Switchyard')));
    expect(others).toEqual([]);
  });

  test('shows a file for one server that is found', async () => {
    const [file] = examples('json').filter(([heading]) => heading === 'Add servers');
    const project = createProject({ 'mcps/x/.mcp.json': file![1] });
    const { servers, warnings } = await loadConfig({ cwd: project.dir, env: {} });
    expect([servers.length, warnings]).toEqual([1, []]);
    for (const [heading, block] of examples('json'))
      expect(() => JSON.parse(block) as unknown, heading).not.toThrow();
  });

  test('names every key of the file, with its default, and no other', () => {
    const listed = rows('top');
    const keys = keysOf(schema, ['mcpServers', 'suites']);
    expect(listed.map(([key]) => key).sort()).toEqual(
      [...keys.map(([key]) => key), 'tools', 'tools.*.subtools'].sort(),
    );
    for (const [key, { default: standard }] of keys) {
      const said = listed.find(([each]) => each === key)![1].replaceAll('`', '');
      if (standard === undefined) expect(said, key).toBe('');
      else expect(JSON.parse(said), key).toEqual(standard);
    }
  });

  test('names every key of a server, and no other', () => {
    const forms = (schema.properties!.mcpServers!.additionalProperties as Schema).anyOf!;
    const keys = forms.flatMap((form) => keysOf(form, ['timeouts', 'command']).map(([key]) => key));
    expect(
      rows('server')
        .map(([key]) => key)
        .sort(),
    ).toEqual([...new Set(keys)].sort());
  });

  test('names every key of suites', () => {
    const suite = schema.properties!.suites!.additionalProperties as Schema;
    const [section] = guide.split('\n### Suites\n')[1]!.split('\n### ');
    for (const key of Object.keys(suite.properties!)) expect(section).toContain(`\`${key}\``);
  });
});
