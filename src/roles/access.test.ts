import { describe, expect, test } from 'vitest';
import { accessOf, type RoleBearer } from './access.ts';

const grant = { servers: ['*'], tools: ['*'], resources: ['*'], prompts: ['*'], management: false };

/** Whether a client with these claims has a role that requires these patterns. */
function hasRole(wanted: Record<string, string | string[]>, claims: RoleBearer['claims']): boolean {
  const roles = { role: { ...grant, match: { claims: wanted } } } as unknown as Parameters<
    typeof accessOf
  >[0];
  return accessOf(roles, { claims }).grantsFor('any').length > 0;
}

describe('claims of a token', () => {
  test('a value has to match as a whole: what is a part of its name gives nothing', () => {
    const wanted = { groups: 'platform' };
    expect(hasRole(wanted, { groups: ['support', 'platform'] })).toBe(true);
    expect(hasRole(wanted, { groups: 'platform' })).toBe(true);
    for (const groups of ['not platform', 'platform ', 'Platform', 'plat\u200bform', '\u0440latform'])
      expect([groups, hasRole(wanted, { groups }), hasRole(wanted, { groups: [groups] })]).toEqual([
        groups,
        false,
        false,
      ]);
    expect(hasRole({ name: 'admin' }, { name: 'Eve admin' })).toBe(false);
  });

  test.each(['scope', 'scp'])('%s is a list of words', (name) => {
    expect(hasRole({ [name]: 'tools:run' }, { [name]: 'openid tools:run' })).toBe(true);
    expect(hasRole({ [name]: 'tools' }, { [name]: 'openid tools:run' })).toBe(false);
  });

  test('names that every object has are no claims', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'a.constructor.name', '__proto__.x'])
      expect([name, hasRole({ [name]: '*' }, { a: {} })]).toEqual([name, false]);
    expect(hasRole({ a: '*' }, undefined)).toBe(false);
    expect(hasRole({}, { a: 'b' })).toBe(false);
  });
});
