import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from './yard-home.ts';
import { createYard, SWITCHYARD, type TestYard, type TestYardOptions } from './yard.ts';

/** A yard with these lines of `switchyard.toml`; its services get ports from 26000 on, its proxy a free one. */
export async function createYardWithProxy(
  services: string,
  options: Omit<TestYardOptions, 'toml'> = {},
): Promise<TestYard & { readonly proxyPort: number }> {
  const proxyPort = await freePort();
  const toml = `[project]\nname = "shop"\n[proxy]\nport = ${proxyPort}\n[ports]\nstart = 26000\nend = 26999\n`;
  return { ...createYard({ ...options, toml: toml + services }), proxyPort };
}

/** The JSON output of a command, which must be sorted, indented by two spaces, and the only output. */
export async function runJson(yard: TestYard, args: readonly string[], code = 0): Promise<any> {
  const ran = await yard.run([...args, '--json']);
  const what = `switchyard ${args.join(' ')}: ${ran.stdout}${ran.stderr}`;
  expect(ran.code, what).toBe(code);
  expect(ran.stderr, what).toBe('');
  expect(ran.stdout, what).toBe(`${JSON.stringify(sortKeys(ran.json), undefined, 2)}\n`);
  return ran.json;
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sortKeys((value as Record<string, unknown>)[key])]));
}

/** A directory for the PATH that has only `node`, and `switchyard` with its short name. */
export function minimalPath(yard: TestYard): string {
  const bin = join(dirname(yard.home), 'bin');
  mkdirSync(bin, { recursive: true });
  chmodSync(SWITCHYARD, 0o755);
  symlinkSync(process.execPath, join(bin, 'node'));
  for (const name of ['switchyard', 'sy']) symlinkSync(SWITCHYARD, join(bin, name));
  return bin;
}
