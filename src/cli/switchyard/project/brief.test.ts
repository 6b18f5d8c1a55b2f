import { expect, test } from 'vitest';
import type { Brief } from '../../../switchyard/index.ts';
import { plainStyle } from '../../kit/style.ts';
import { briefText } from './brief.ts';

const empty: Brief = {
  project: 'shop',
  project_root: '/shop',
  branch: null,
  configured_services: ['api', 'web'],
  configured_profiles: [],
  proxy: 'running',
  services: [],
  checkouts: [],
  changed_files: [],
  env_warnings: [],
  recent_errors: [],
};

const api = {
  service: 'api',
  branch: 'main',
  status: 'running',
  state: 'ready',
  log_file: '/api.log',
} as const;

test('empty sections are omitted, except services', () => {
  expect(briefText(empty, plainStyle)).toBe(
    'project: shop (/shop)\nconfigured services:\n- api\n- web\nservices: none\n',
  );
});

test('services and checkouts show their state and address', () => {
  const text = briefText(
    {
      ...empty,
      branch: 'main',
      services: [{ ...api, url: 'http://api.main.shop.localhost:7331', port: 20001 }],
      checkouts: [
        { ...api, listen_host: '127.0.0.1', listen_port: 4000, target_host: '127.0.0.1', target_port: 20001 },
      ],
      recent_errors: [
        { service: 'api', line: 'Error: no' },
        { service: null, line: 'Error: of the forwarder' },
      ],
    },
    plainStyle,
  );
  expect(text).toContain('branch: main\n');
  expect(text).toContain('services:\n- api [ready]: http://api.main.shop.localhost:7331\n');
  expect(text).toContain('checkouts:\n- api [running]: 127.0.0.1:4000 -> 127.0.0.1:20001\n');
  expect(text).toContain('recent errors:\n- api: Error: no\n- Error: of the forwarder\n');
});

test('names include the branch if there are several', () => {
  const services = [{ ...api, url: 'http://api.main.shop.localhost:7331', port: 20001 }];
  expect(briefText({ ...empty, services }, plainStyle)).toContain('- api (main) [ready]: ');
});

test('problems of a service and a dead proxy are reported', () => {
  const url = 'http://api.main.shop.localhost:7331';
  const services = [{ ...api, url, port: 20001, state: 'unhealthy', note: 'GET / returned 500' }] as const;
  expect(briefText({ ...empty, services, proxy: 'not-running' }, plainStyle)).toContain(
    `services:\n- api (main) [unhealthy]: ${url} (GET / returned 500)\n` +
      'proxy: not running, so these addresses do not work; `switchyard up` starts it\n',
  );
});

test('a long list is truncated, and the rest is counted', () => {
  const changed_files = Array.from({ length: 25 }, (_, at) => ` M file-${at}`);
  const text = briefText({ ...empty, changed_files }, plainStyle);
  expect(text).toContain('-  M file-19\n  … and 5 more\n');
  expect(text).not.toContain('file-20');
});
