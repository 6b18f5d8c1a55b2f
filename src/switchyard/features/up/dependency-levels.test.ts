import { describe, expect, test } from 'vitest';
import type { ServiceDefinition } from '../../records/config/definition.ts';
import { levelsOf } from './dependency-levels.ts';

function service(name: string, ...dependsOn: string[]): ServiceDefinition {
  return {
    name,
    dependsOn,
    cwd: '',
    command: 'x',
    port: undefined,
    host: '127.0.0.1',
    health: undefined,
    readyTimeout: 15,
    hostHeader: 'preserve',
    env: {},
  };
}

const names = (services: readonly ServiceDefinition[], wanted: readonly string[]) =>
  levelsOf(services, wanted).map((level) => level.map(({ name }) => name));

const shop = [
  service('web', 'api'),
  service('api', 'db', 'cache'),
  service('db'),
  service('cache'),
  service('docs'),
];

describe('levels', () => {
  test('start with services without dependencies, in the order of the file', () => {
    expect(names(shop, ['web', 'api', 'db', 'cache', 'docs'])).toEqual([
      ['db', 'cache', 'docs'],
      ['api'],
      ['web'],
    ]);
  });

  test('contain the dependencies of the wanted services, and nothing else', () => {
    expect(names(shop, ['api'])).toEqual([['db', 'cache'], ['api']]);
    expect(names(shop, ['docs'])).toEqual([['docs']]);
    expect(names(shop, [])).toEqual([]);
  });

  test('put a service after the deepest of its dependencies', () => {
    const all = [service('a', 'b', 'c'), service('b', 'c'), service('c')];
    expect(names(all, ['a'])).toEqual([['c'], ['b'], ['a']]);
  });
});
