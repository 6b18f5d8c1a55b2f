import { expect, test } from 'vitest';
import { storeUrlOf } from './store-url.ts';

const urlOf = (text: string, env: Record<string, string> = {}): string | undefined =>
  storeUrlOf({ writtenStore: { text, file: 'a.json' } }, env);

test.each(['redis://host:6379', 'rediss://user:pass%40word@10.0.0.5:6380/3', 'redis://[::1]:6379/'])(
  '%s is the address of a store',
  (text) => {
    expect(urlOf(text)).toBe(text);
  },
);

test('references are filled in, and an empty address means that there is no store', () => {
  expect(urlOf('redis://:${PASSWORD}@host', { PASSWORD: 'x' })).toBe('redis://:x@host');
  expect(urlOf('${STORE:-}')).toBeUndefined();
  expect(storeUrlOf({}, {})).toBeUndefined();
});

test.each(['host:6379', 'http://host', 'redis://', 'redis://host/path', 'redis://:a/b@host'])(
  '%s is refused without being shown',
  (text) => {
    expect(() => urlOf(text)).toThrow(expect.objectContaining({ code: 'STORE_INVALID' }));
    expect(() => urlOf(text)).toThrow(/^(?!.*\/b@)a\.json: "?store"?: must be an address/);
  },
);

test('a reference that is not set is named', () => {
  expect(() => urlOf('redis://:${PASSWORD}@host')).toThrow('PASSWORD is not set');
});
