import { describe, expect, test } from 'vitest';
import { composeEnvironment } from './environment.ts';

const nothing = { inherited: {}, profile: {}, service: {}, own: {}, peers: [] };

describe('the environment of a service', () => {
  test('overrides the inherited variables by those of the profile, then of the service, then ours', () => {
    const env = composeEnvironment({
      ...nothing,
      inherited: { A: 'inherited', B: 'inherited', C: 'inherited', PORT: 'inherited', GONE: undefined },
      profile: { B: 'profile', C: 'profile', PORT: 'profile' },
      service: { C: 'service', PORT: 'service' },
      own: { PORT: '20000' },
    });
    expect(env).toEqual({ A: 'inherited', B: 'profile', C: 'service', PORT: '20000' });
  });

  test('has the addresses of its peers', () => {
    const peers = [{ service: 'db-main', host: '::1', port: 5, publicUrl: 'http://db' }] as const;
    expect(composeEnvironment({ ...nothing, peers })).toEqual({
      SWITCHYARD_DB_MAIN_URL: 'http://[::1]:5',
      SWITCHYARD_DB_MAIN_HOST: '::1',
      SWITCHYARD_DB_MAIN_PORT: '5',
      SWITCHYARD_DB_MAIN_PUBLIC_URL: 'http://db',
    });
  });

  test('has no variables of an outer service, nor the cookie of a gateway', () => {
    const inherited = {
      SWITCHYARD: '1',
      SWITCHYARD_COOKIE: 'outer',
      SWITCHYARD_API_URL: 'outer',
      SWITCHBOARD_RUN_0123: 'outer',
      SWITCHBOARD_LOG_LEVEL: 'debug',
    };
    expect(composeEnvironment({ ...nothing, inherited })).toEqual({ SWITCHBOARD_LOG_LEVEL: 'debug' });
  });
});
