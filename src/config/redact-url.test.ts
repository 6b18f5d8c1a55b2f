import { expect, test } from 'vitest';
import { redactUrl } from './redact-url.ts';
import { cheapestMs } from '../../test/helpers/cheapest.ts';

test.each([
  'https://example.com/mcp',
  'http://localhost:3000/sse#part',
  'https://${HOST}/${PATH_PART}/mcp',
  'https://${USER}:${PASSWORD}@example.com',
  'https://example.com/mcp?key=${KEY}&other=${env:OTHER}',
  'https://${HOST:-example.com/a@b?c=d}/mcp',
  '${URL}',
  'https://internal-gateway-number-17/mcp',
  'https://example.com/a-rather-long-name-of-a-service/mcp',
])('%s is shown as it is', (address) => {
  expect(redactUrl(address)).toBe(address);
});

test.each([
  ['https://me:secret@example.com/a@b', 'https://***@example.com/a@b'],
  ['https://token@example.com', 'https://***@example.com'],
  ['https://me:${PASSWORD}@example.com', 'https://***@example.com'],
  ['https://${USER}:${PASSWORD:-secret}@example.com', 'https://***@example.com'],
  ['https://example.com/mcp?api_key=secret&region=eu#x', 'https://example.com/mcp?api_key=***&region=***#x'],
  ['https://example.com/mcp?key=${KEY:-secret}', 'https://example.com/mcp?key=***'],
  ['https://example.com/mcp?key=${A}secret', 'https://example.com/mcp?key=***'],
  ['https://example.com/s/NzYxZTg0MTItOTI4secret/mcp', 'https://example.com/s/***/mcp'],
])('%s loses what may be a secret', (address, shown) => {
  expect(redactUrl(address)).toBe(shown);
});

test('very many references without an end are read in time', () => {
  expect(
    cheapestMs(500, () => {
      redactUrl(`https://host/${'${'.repeat(128 * 1024)}`);
    }),
  ).toBeLessThan(500);
});
