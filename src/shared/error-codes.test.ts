import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERROR_CODES } from './error-codes.ts';

test('every code is used', () => {
  const src = join(import.meta.dirname, '..');
  const text = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|cases)\.ts$|error-codes\.ts$/.test(path))
    .map((path) => readFileSync(join(src, path), 'utf8'))
    .join('\n');
  expect(Object.keys(ERROR_CODES).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
});
