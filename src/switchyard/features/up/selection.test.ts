import { describe, expect, test } from 'vitest';
import type { ProjectConfig } from '../../records/config/definition.ts';
import { selectServices } from './selection.ts';

const config = {
  file: '/p/switchyard.toml',
  services: ['web', 'api', 'db-main'].map((name) => ({ name })),
  profiles: [
    { name: 'backend', services: ['db-main', 'api'], env: {} },
    { name: 'test', services: [], env: { A: '1' } },
  ],
} as unknown as ProjectConfig;

describe('the services a command applies to', () => {
  test.each([
    { what: 'all by default', names: [], requested: [], wanted: ['web', 'api', 'db-main'] },
    { what: 'those it names, by slug and once', names: ['DB main', 'web', 'Web'], requested: ['db-main', 'web'], wanted: ['web', 'db-main'] }, // prettier-ignore
    { what: 'those of the profile', names: [], profile: 'Backend', requested: ['db-main', 'api'], wanted: ['api', 'db-main'] }, // prettier-ignore
    {
      what: 'all for an empty profile',
      names: [],
      profile: 'test',
      requested: [],
      wanted: ['web', 'api', 'db-main'],
    },
    { what: 'those it names although there is a profile', names: ['web'], profile: 'backend', requested: ['web'], wanted: ['web'] }, // prettier-ignore
  ])('are $what', ({ names, profile, requested, wanted }) => {
    expect(selectServices(config, names, profile)).toMatchObject({ requested, wanted });
  });

  test('that do not exist are all named, with a suggestion', () => {
    expect(() => selectServices(config, ['wep', 'web', 'x'])).toThrow(
      expect.objectContaining({ message: 'Unknown service(s): wep, x.', hint: 'Did you mean "web"?' }),
    );
    expect(() => selectServices(config, [], 'tests')).toThrow(
      expect.objectContaining({ message: 'Unknown profile: tests.', hint: 'Did you mean "test"?' }),
    );
  });
});
