import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { launchOf, type Launch } from './launch.ts';

function folder(): { readonly root: string; readonly bin: string; readonly make: (path: string) => string } {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'yard-launch-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const make = (path: string): string => {
    const file = join(top, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '#!/bin/sh\n');
    chmodSync(file, 0o755);
    return file;
  };
  mkdirSync(join(top, 'project'));
  return { root: join(top, 'project'), bin: join(top, 'bin'), make };
}

const ARGS = ['mcp', '--project', 'shop'];

const launch = (root: string, script: string, PATH: string, node = process.execPath): Launch =>
  launchOf({ root, alias: 'shop', script, node, env: { PATH } });

test('a program called by name is written with its path', () => {
  const { root, make } = folder();
  for (const name of ['sy', 'switchyard']) {
    const script = make(`bin/${name}`);
    expect(launch(root, script, '')).toEqual({
      command: script,
      args: ARGS,
      comments: [],
      usesInterpreter: false,
    });
  }
});

test('otherwise the one on the PATH is used, but not one inside the project', () => {
  const { root, bin, make } = folder();
  make('project/node_modules/.bin/switchyard');
  const found = make('bin/switchyard');
  const PATH = `${join(root, 'node_modules/.bin')}:${bin}`;
  expect(launch(root, '/elsewhere/dist/switchyard.js', PATH)).toMatchObject({ command: found, args: ARGS });
});

test('a link into the project counts as inside the project', () => {
  const { root, bin, make } = folder();
  const inside = make('project/tools/switchyard.js');
  mkdirSync(bin);
  symlinkSync(inside, join(bin, 'switchyard'));
  const { command, comments } = launch(root, join(bin, 'switchyard'), bin);
  expect(command).not.toContain(bin);
  expect(comments.join(' ')).toContain('PATH');
});

test('without one on the PATH the interpreter is used, with a comment', () => {
  const { root } = folder();
  const { command, args, comments, usesInterpreter } = launch(
    root,
    '/elsewhere/dist/switchyard.js',
    '/nowhere',
  );
  expect({ command, args, usesInterpreter }).toEqual({
    command: process.execPath,
    args: ['/elsewhere/dist/switchyard.js', ...ARGS],
    usesInterpreter: true,
  });
  expect(comments.join(' ')).toMatch(/not found on PATH/);
});

test('if everything is inside the project, only the name is used', () => {
  const { root, make } = folder();
  const script = make('project/node_modules/mcp-switchboard/dist/switchyard.js');
  const { command, args, comments } = launch(root, script, '/nowhere');
  expect({ command, args }).toEqual({ command: 'switchyard', args: ARGS });
  expect(comments.join(' ')).toMatch(/project-local/);
  expect(JSON.stringify({ command, args, comments })).not.toContain(root);
});

test('a program fetched or put on the PATH by npx is started with npx', () => {
  const { root, make } = folder();
  const script = make('.npm/_npx/0123/node_modules/mcp-switchboard/dist/switchyard.js');
  const linked = join(dirname(root), '.npm/_npx/0123/node_modules/.bin/switchyard');
  mkdirSync(dirname(linked));
  symlinkSync(script, linked);
  const node = make('bin/node');
  const npx = make('bin/npx');
  const { command, args, comments, usesInterpreter } = launch(root, linked, dirname(linked), node);
  expect({ command, args, usesInterpreter }).toEqual({
    command: npx,
    args: ['-y', '-p', 'mcp-switchboard', 'switchyard', ...ARGS],
    usesInterpreter: false,
  });
  expect(comments.join(' ')).toContain('npx');
  // One that is there to stay is preferred.
  const lasting = make('usr/bin/switchyard');
  const PATH = `${dirname(linked)}:${dirname(lasting)}`;
  expect(launch(root, linked, PATH, node)).toMatchObject({ command: lasting, args: ARGS });
});

test('a link that exists only for one shell is not used', () => {
  const { root, make } = folder();
  const script = make('lib/node_modules/mcp-switchboard/dist/switchyard.js');
  const linked = join(dirname(root), 'fnm_multishells/1/bin/switchyard');
  mkdirSync(dirname(linked), { recursive: true });
  symlinkSync(script, linked);
  const node = make('versions/node');
  expect(launch(root, linked, dirname(linked), node)).toMatchObject({
    command: node,
    args: [script, ...ARGS],
  });
});
