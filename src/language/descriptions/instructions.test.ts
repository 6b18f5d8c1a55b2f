import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Component, type OfferedTool, type SourceInfo } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { draft } from './draft.ts';
import { instructionsFor } from './instructions.ts';
import { ROLES } from './library/roles.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'instructions-'));
});

afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

function offered(tool: JsonObject & { name: string }): OfferedTool {
  const component = new Component(tool.name, JSON.stringify(tool));
  return { name: tool.name, original: tool.name, component, presets: undefined };
}

function about(more: Partial<SourceInfo> = {}): SourceInfo {
  return {
    protocolVersion: '2025-06-18',
    serverInfo: {},
    capabilities: {},
    instructions: undefined,
    ...more,
  };
}

const MEMORY = {
  kind: 'stdio',
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-memory'],
} as const;
const UNKNOWN = { kind: 'stdio', command: 'node', args: ['memory.mjs'] } as const;

describe('instructions for a model', () => {
  const server = 'memory';
  const tools: OfferedTool[] = [];
  const pipe = (name: string): string => {
    spawnSync('mkfifo', [join(directory, name)]);
    return join(directory, name);
  };
  const file = (name: string, content: string): string => {
    const path = join(directory, name);
    writeFileSync(path, content);
    return path;
  };

  test('comes from the first of: file, text, mcp-descriptions.json, library, draft', async () => {
    const instructionsFile = file('CLAUDE.md', 'From the file.');
    const instructions = 'From the text.';
    const claude = 'From the descriptions.';
    const base = { server, about: undefined, tools, program: MEMORY };
    expect(await instructionsFor({ ...base, settings: { instructionsFile, instructions }, claude })).toBe(
      'From the file.',
    );
    expect(await instructionsFor({ ...base, settings: { instructions }, claude })).toBe(instructions);
    expect(await instructionsFor({ ...base, settings: {}, claude })).toBe(claude);
    expect(await instructionsFor(base)).toContain(ROLES.memory);
    expect(await instructionsFor({ ...base, program: UNKNOWN })).toBe(draft(base));
    expect(await instructionsFor({ server, about: undefined, tools })).toBe(draft(base));
  });

  test('is not what is blank', async () => {
    const instructionsFile = file('blank.md', '\ufeff \n');
    const settings = { instructionsFile, instructions: ' ' };
    const told = await instructionsFor({
      server,
      about: undefined,
      tools,
      program: MEMORY,
      settings,
      claude: '',
    });
    expect(told).toContain(ROLES.memory);
  });

  test('is read again each time', async () => {
    const instructionsFile = file('edited.md', 'Before.');
    const ask = (): Promise<string> =>
      instructionsFor({ server, about: undefined, tools, settings: { instructionsFile } });
    expect(await ask()).toBe('Before.');
    file('edited.md', 'After.');
    expect(await ask()).toBe('After.');
  });

  test.each([
    ['is not there', () => join(directory, 'missing.md'), 'no such file'],
    ['is a folder', () => directory, 'not a regular file'],
    ['is a pipe that nobody writes to', () => pipe('pipe.md'), 'not a regular file'],
    ['is too large', () => file('large.md', 'x'.repeat(1024 * 1024 + 1)), 'larger than 1 MiB'],
  ])('a file that %s is an error that names it', async (_what, pathOf, why) => {
    const instructionsFile = pathOf();
    const settings = { instructionsFile, instructions: 'From the text.' };
    await expect(instructionsFor({ server, about: undefined, tools, settings })).rejects.toMatchObject({
      code: 'INSTRUCTIONS_UNREADABLE',
      message: expect.stringMatching(new RegExp(`"memory".*${why}`)) as string,
      hint: expect.stringContaining('instructionsFile') as string,
    });
  });

  test("has the server's own words behind those of the library", async () => {
    const told = await instructionsFor({
      server,
      about: about({ instructions: 'Names are lower case here.' }),
      tools,
      program: MEMORY,
    });
    expect(told.indexOf('Names are lower case here.')).toBeGreaterThan(told.indexOf(ROLES.memory));
  });
});

describe('a draft', () => {
  test('says what the server says, and which tools it has, by what they do', () => {
    const told = draft({
      server: 'notes',
      about: about({
        serverInfo: { name: 'notes-server', title: 'Team notes', version: '1.0.0' },
        instructions: 'Notes are sorted by day.',
      }),
      tools: [
        offered({
          name: 'find_note',
          description: 'Finds notes, e.g. by a word in them.\nReturns at most ten.',
          inputSchema: { type: 'object', required: ['query', 'limit'] },
          annotations: { readOnlyHint: true },
        }),
        offered({ name: 'add_note', description: 'Adds a note', annotations: { destructiveHint: false } }),
        offered({ name: 'clear', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }),
        offered({ name: 'sync', description: 'Syncs. Slowly.' }),
      ],
    });
    expect(told.split('\n## ').slice(1)).toEqual([
      'What the server says\n\nNotes are sorted by day.\n',
      'Tools that only read\n\n- find_note (needs query, limit): Finds notes, e.g. by a word in them.\n',
      'Tools that change something\n\n- add_note: Adds a note\n',
      'Tools that may destroy something: only where the request asks for exactly that\n\n- clear\n',
      'Tools that do not say whether they change something: judge by what they are for\n\n- sync: Syncs.\n',
    ]);
    expect(told).toMatch(/^# Team notes\n\nYou use the MCP server "notes" on behalf of a user\.\n/);
  });

  test('is there for a server that has never run', () => {
    const told = draft({ server: 'notes', about: undefined, tools: [] });
    expect(told).toMatch(/^# notes\n/);
    expect(told).not.toContain('##');
  });

  test.each([
    ['many tools', 80, 'Does a thing that takes some words to say. And more.', 10],
    ['very many tools', 5000, 'Does a thing.', 10],
    ['long names of arguments', 30, 'Does a thing.', 5000],
  ])('has 6000 characters at most, with %s', (_what, count, description, chars) => {
    const told = draft({
      server: 'huge',
      about: about({ serverInfo: { name: 'n'.repeat(1000) }, instructions: 'Long. '.repeat(5000) }),
      tools: Array.from({ length: count }, (_, at) =>
        offered({ name: `tool_${at}`, description, inputSchema: { required: ['a'.repeat(chars)] } }),
      ),
    });
    expect(told.length).toBeLessThanOrEqual(6000);
    expect(told).toContain('- tool_0 (needs a');
    if (!told.includes(`tool_${count - 1}`)) expect(told).toMatch(/… and \d+ more tools\.\n$/);
  });

  test('shows no control characters, and puts no line of its own into a list', () => {
    const told = draft({
      server: 'odd',
      about: about({ serverInfo: { title: 'Odd\n# Title\u001b[31m' }, instructions: 'Red\u001b[31m.' }),
      tools: [
        offered({ name: 'a\nb', description: 'One\n\n## Two', inputSchema: { required: ['x\ny', 7] } }),
      ],
    });
    expect(told).not.toContain('\u001b');
    expect(told.split('\n').filter((line) => line.startsWith('#'))).toEqual([
      '# Odd # Title\\x1b[31m',
      '## What the server says',
      '## Tools that do not say whether they change something: judge by what they are for',
    ]);
    expect(told).toContain('- a b (needs x y): One ## Two\n');
  });
});

describe('the official servers', () => {
  const require = createRequire(import.meta.url);

  test.each(['memory', 'filesystem'] as const)(
    'have the tools that the library speaks of: %s',
    async (name) => {
      const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
      const client = new Client({ name: 'test', version: '0' });
      const args = [join(dirname(manifest), 'dist/index.js'), directory];
      await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
      try {
        const { tools } = await client.listTools();
        const real = new Set(tools.map((tool) => tool.name));
        const spokenOf = ROLES[name].match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [];
        const examples = ['works_on', 'node_modules'];
        expect(spokenOf.filter((word) => !examples.includes(word) && !real.has(word))).toEqual([]);
        const told = draft({
          server: name,
          about: about(),
          tools: tools.map((tool) => offered(tool as JsonObject & { name: string })),
        });
        for (const tool of real) expect(told).toContain(`- ${tool}`);
      } finally {
        await client.close();
      }
    },
  );
});
