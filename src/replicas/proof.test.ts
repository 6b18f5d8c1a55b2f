import { expect, test, vi } from 'vitest';
import { ProofReader, writeProof } from './proof.ts';

const KEY = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);
const CONTENT = { from: 'AAAAAAAAAAAA', to: 'BBBBBBBBBBBB', caller: 'any text: "é"' };
const REQUEST = { method: 'POST', url: '/mcp', session: 'BBBBBBBBBBBB.x' };

test('a proof says who sent the request, once', () => {
  const reader = new ProofReader(CONTENT.to);
  const proof = writeProof(KEY, CONTENT, REQUEST);
  expect(reader.read(proof, [OTHER, KEY], REQUEST)).toBe(CONTENT.caller);
  expect(reader.read(proof, [KEY], REQUEST)).toBeUndefined();
  expect(reader.read(writeProof(KEY, CONTENT, REQUEST), [KEY], REQUEST)).toBe(CONTENT.caller);
});

test.each([
  ['with another key', OTHER, CONTENT, REQUEST],
  ['for another replica', KEY, { ...CONTENT, to: 'CCCCCCCCCCCC' }, REQUEST],
  ['for another method', KEY, CONTENT, { ...REQUEST, method: 'DELETE' }],
  ['for another address', KEY, CONTENT, { ...REQUEST, url: '/message' }],
  ['for another session', KEY, CONTENT, { ...REQUEST, session: '' }],
])('a proof %s is not valid', (_, key, content, request) => {
  expect(new ProofReader(CONTENT.to).read(writeProof(key, content, request), [KEY], REQUEST)).toBeUndefined();
});

test('a proof with a changed part, or of another form, is not valid', () => {
  const parts = writeProof(KEY, CONTENT, REQUEST).split('.');
  for (const at of parts.keys()) {
    const changed = parts.with(at, `${parts[at]}A`).join('.');
    expect(new ProofReader(CONTENT.to).read(changed, [KEY], REQUEST)).toBeUndefined();
  }
  for (const text of ['', '.', 'x'.repeat(20_000), parts.slice(1).join('.')])
    expect(new ProofReader(CONTENT.to).read(text, [KEY], REQUEST)).toBeUndefined();
});

test('a proof is valid for a while, and remembered for longer', () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  try {
    const reader = new ProofReader(CONTENT.to);
    const old = writeProof(KEY, CONTENT, REQUEST);
    vi.setSystemTime(Date.now() + 31_000);
    expect(reader.read(old, [KEY], REQUEST)).toBeUndefined();
    const proof = writeProof(KEY, CONTENT, REQUEST);
    expect(reader.read(proof, [KEY], REQUEST)).toBe(CONTENT.caller);
    // Other proofs start a new interval meanwhile; the sender's clock may be ahead.
    for (const ms of [15_000, 14_000]) {
      vi.setSystemTime(Date.now() + ms);
      reader.read(writeProof(KEY, CONTENT, REQUEST), [KEY], REQUEST);
      expect(reader.read(proof, [KEY], REQUEST)).toBeUndefined();
    }
  } finally {
    vi.useRealTimers();
  }
});
