import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PendingRequests } from './pending-requests.ts';

test('behaves as a map, even if some requests are answered late or never', () => {
  const step = fc.record({ take: fc.nat({ max: 600 }), add: fc.nat({ max: 40 }) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const list = new PendingRequests<string>();
      const model = new Map<number, string>();
      let id = 0;
      for (const { take, add } of steps) {
        for (let count = 0; count < add; count++) {
          id++;
          list.add(id, `w${id}`);
          model.set(id, `w${id}`);
        }
        expect(list.get(take)).toBe(model.get(take));
        expect(list.take(take)).toBe(model.get(take));
        model.delete(take);
        expect(list.size).toBe(model.size);
      }
      expect(list.takeAll().sort()).toEqual([...model.values()].sort());
      expect(list.size).toBe(0);
    }),
  );
});
