import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Chain, type Link } from './chain.ts';

test('a chain holds what was added and not removed, the newest first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (steps) => {
      const chain = new Chain<number>();
      const links: Link<number>[] = [];
      const model: number[] = [];
      for (const [value, step] of steps.entries()) {
        const link = links[step];
        if (link === undefined) {
          links.push(chain.add(value));
          model.unshift(value);
        } else {
          const at = model.indexOf(link.value);
          expect(chain.remove(link)).toBe(at !== -1);
          if (at !== -1) model.splice(at, 1);
        }
        expect(chain.links().map((each) => each.value)).toEqual(model);
        expect(chain.size).toBe(model.length);
      }
    }),
  );
});

test('the newest that fits is found', () => {
  const chain = new Chain<string>();
  chain.add('a1');
  const link = chain.add('a2');
  chain.add('b');
  expect(chain.find((value) => value.startsWith('a'))).toBe(link);
  expect(chain.find((value) => value === 'c')).toBeUndefined();
});
