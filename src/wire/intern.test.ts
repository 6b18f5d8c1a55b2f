import fc from 'fast-check';
import { expect, test } from 'vitest';
import { internPlain } from './intern.ts';

test('gives the text itself, or nothing where it is not plain', () => {
  const unit = fc.oneof(
    fc.constantFrom('tools/call', 'tools/list', 'echo'),
    fc.string({ unit: 'binary', maxLength: 70 }),
  );
  fc.assert(
    fc.property(fc.array(unit), (texts) => {
      for (const text of texts) {
        const bytes = Buffer.from(`"${text}"`);
        const found = internPlain(bytes, 1, bytes.length - 1);
        // eslint-disable-next-line no-control-regex
        const plain = /^[\x00-\x7f]{1,64}$/.test(text) && !text.includes('\\');
        expect(found).toBe(plain ? text : undefined);
      }
    }),
    { numRuns: 500 },
  );
});
