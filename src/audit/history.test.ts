import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { HistoryReader } from './history.ts';

const TOKEN = '0123456789ab';
const CALLS = [
  { client: 'claude-code', principal: TOKEN },
  { client: 'cursor', principal: 'https://id.example.com alice' },
  { client: 'alice' },
  { client: 'cursor', principal: 'https://id.example.com j%C3%B6rg%20m%40example.com' },
  { client: 'cursor', principal: 'https://other.example.com alice' },
  { client: 'cursor', principal: 'https://id.example.com cut%C' },
];

test.for([
  ['the name of a client', 'claude-code', [0]],
  ['the name of a token', 'laptop', [0]],
  ['a user, of whatever issuer', 'alice', [1, 2, 4]],
  ['a user with other characters', 'jörg m@example.com', [3]],
  ['a whole principal', 'https://id.example.com alice', [1]],
  ['the issuer alone, which is nobody', 'https://id.example.com', []],
  ['somebody who made no call', 'bob', []],
] as const)('history finds the calls of a client by %s', ([, client, expected]) => {
  const file = createProject({}).path('audit.jsonl');
  const lines = CALLS.map((call, ms) => JSON.stringify({ time: '2026-01-31T00:00:00Z', ms, ...call }));
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  const reader = new HistoryReader({
    file,
    filter: { client },
    principalName: (principal) => (principal === TOKEN ? 'laptop' : undefined),
  });
  expect([...reader.all()].map(({ ms }) => ms)).toEqual(expected);
  reader.close();
});
