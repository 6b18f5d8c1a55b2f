import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LinkedSet, type Linked } from './linked-set.ts';

class Member implements Linked<Member> {
  before: Member | undefined = undefined;
  after: Member | undefined = undefined;
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

test('a chain holds what was added and not removed, the newest first', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (steps) => {
      const chain = new LinkedSet<Member>();
      const all: Member[] = [];
      const model: Member[] = [];
      for (const [at, step] of steps.entries()) {
        const known = all[step];
        if (known === undefined) {
          const member = new Member(String(at));
          all.push(member);
          chain.add(member);
          model.unshift(member);
        } else {
          const place = model.indexOf(known);
          expect(chain.remove(known)).toBe(place !== -1);
          if (place !== -1) model.splice(place, 1);
        }
        expect(chain.members().map(({ name }) => name)).toEqual(model.map(({ name }) => name));
        expect(chain.size).toBe(model.length);
      }
    }),
  );
});

test('the newest that fits is found', () => {
  const chain = new LinkedSet<Member>();
  const [first, second, third] = ['a1', 'a2', 'b'].map((name) => new Member(name));
  for (const member of [first!, second!, third!]) chain.add(member);
  expect(chain.find(({ name }) => name.startsWith('a'))).toBe(second);
  expect(chain.find(({ name }) => name === 'c')).toBeUndefined();
});
