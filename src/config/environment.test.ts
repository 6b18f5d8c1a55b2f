import { expect, test } from 'vitest';
import { composeEnv, envNames } from './environment.ts';

const parent = { PATH: '/bin', HOME: '/home/u', SECRET: 's', AWS_KEY: 'k', AWS_ID: 'i', GONE: undefined };

test('a child gets our environment plus what its definition names, which wins', () => {
  expect(composeEnv({ env: { SECRET: 'own', NEW: 'n' }, inheritEnv: true }, parent)).toEqual({
    ...{ PATH: '/bin', HOME: '/home/u', SECRET: 'own', AWS_KEY: 'k', AWS_ID: 'i', NEW: 'n' },
  });
});

test('inheritEnv false leaves only what every process needs', () => {
  expect(composeEnv({ env: { NEW: 'n' }, inheritEnv: false }, parent, 'linux')).toEqual({
    ...{ PATH: '/bin', HOME: '/home/u', NEW: 'n' },
  });
});

test('a list adds the named variables, patterns included', () => {
  expect(envNames({ env: { NEW: 'n' }, inheritEnv: ['AWS_*'] }, parent, 'linux')).toEqual([
    ...['AWS_ID', 'AWS_KEY', 'HOME', 'NEW', 'PATH'],
  ]);
  expect(envNames({ env: {}, inheritEnv: [] }, parent, 'linux')).toEqual(['HOME', 'PATH']);
});

test('on Windows names differ in case only and never come twice', () => {
  const windows = { Path: 'C:\\', SystemRoot: 'C:\\Windows', Secret: 's' };
  expect(composeEnv({ env: { PATH: 'D:\\' }, inheritEnv: false }, windows, 'win32')).toEqual({
    ...{ PATH: 'D:\\', SystemRoot: 'C:\\Windows' },
  });
  expect(envNames({ env: {}, inheritEnv: ['SECRET'] }, windows, 'win32')).toContain('Secret');
  const token = { Switchboard_Http_Token: 't' };
  expect(composeEnv({ env: {}, inheritEnv: true }, token, 'win32')).toEqual({});
});

test('a variable called __proto__ is a variable', () => {
  const env = Object.fromEntries([['__proto__', 'x']]) as Record<string, string>;
  expect(envNames({ env, inheritEnv: false }, {})).toEqual(['__proto__']);
});
