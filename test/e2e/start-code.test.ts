import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../helpers/temp-project.ts';

/** The code that a program loads before it does anything: what its entry requires, and where that begins. */
function startOf(program: string): string {
  const texts = new Map<string, string>();
  const load = (file: string): void => {
    if (texts.has(file)) return;
    const text = readFileSync(file, 'utf8');
    texts.set(file, text);
    // What is loaded later is required by a function.
    for (const [, before = '', address = ''] of text.matchAll(/(\(\)=>)?require\("(\.[^"]+)"\)/g))
      if (before === '' || address.includes('/main-')) load(join(dirname(file), address));
  };
  load(join(ROOT, 'dist', program));
  return [...texts.values()].join('\n');
}

test('a gateway starts without the code for processes, HTTP and editing files', () => {
  const code = startOf('index.js');
  expect(code).toContain('takeSnapshot');
  for (const name of ['node:child_process', 'node:http', 'class ServerRun', 'function editConfig'])
    expect(code).not.toContain(name);
  expect(code).not.toContain('=require("node:crypto")');
});

test('switchyard starts without the code of commands that few use', () => {
  const code = startOf('switchyard.js');
  expect(code).toContain('function brief');
  for (const name of ['function followServices', 'function where', 'function up(', '=require("node:crypto")'])
    expect(code).not.toContain(name);
});
