import { expect, test } from 'vitest';
import type { ServiceStatus, YardStatus } from '../../../switchyard/index.ts';
import { createStyle, plainStyle } from '../../kit/style.ts';
import { statusLines } from './status-view.ts';

const web: ServiceStatus = {
  project: 'shop',
  project_slug: 'shop',
  project_root: '/shop',
  branch: 'feature/x',
  branch_slug: 'feature-x',
  service: 'web',
  command: 'node web.mjs',
  desired_port: 3000,
  port: 20001,
  backend_host: '127.0.0.1',
  hostname: 'web.feature-x.shop.localhost',
  url: 'http://web.feature-x.shop.localhost:7331',
  worktree: '/x',
  pid: 4711,
  started_at: '2026-01-01T00:00:00+00:00',
  log_file: '/web.log',
  status: 'running',
  state: 'ready',
  ready: true,
  recent_errors: [],
};

const proxy = { status: 'running', host: '127.0.0.1', port: 7331 } as const;
const shown = (services: readonly ServiceStatus[], more: Partial<YardStatus> = {}, style = plainStyle) =>
  statusLines({ services, checkouts: [], proxy, ...more }, style);

test('services are shown as a table of state, branch, service, port, url and pid, then the proxy', () => {
  expect(shown([web])).toEqual([
    'status  branch     service  port   url                                       pid',
    '------  ---------  -------  -----  ----------------------------------------  ----',
    'ready   feature/x  web      20001  http://web.feature-x.shop.localhost:7331  4711',
    '',
    'proxy: running on 127.0.0.1:7331',
  ]);
});

test('a column for notes appears if there is one', () => {
  const lines = shown([
    web,
    { ...web, state: 'exited', note: 'exited with code 3' },
    { ...web, state: 'unverified', pid: null, note: 'nothing proves it' },
  ]);
  expect(lines[0]).toMatch(/pid {3}note$/);
  expect(lines[3]).toMatch(/^exited .*exited with code 3$/);
  expect(lines[4]).toMatch(/^unverified .* - {5}nothing proves it$/);
});

test('canonical ports are shown with their targets, and whether they work', () => {
  const checkout = {
    service: 'web',
    branch: 'feature/x',
    status: 'running',
    service_state: 'ready',
    listen_host: 'localhost',
    listen_port: 3000,
    target_host: '127.0.0.1',
    target_port: 20001,
  } as const;
  const lines = shown([web], {
    checkouts: [checkout, { ...checkout, service: 'api', listen_port: 4000, status: 'stale' }],
    proxy: { ...proxy, status: 'not-running', note: 'It is dead.' },
  });
  expect(lines.slice(3)).toEqual([
    '',
    'checked out:',
    'localhost:3000 -> web of feature/x [ready]',
    'localhost:4000 -> api of feature/x [no forwarder]: nothing forwards this port; ' +
      '`switchyard checkout feature/x api` restores it',
    '',
    'proxy: not-running on 127.0.0.1:7331. It is dead.',
  ]);
});

test('states are colored, and foreign text cannot move the cursor', () => {
  const style = createStyle({ isTTY: true }, {});
  const services = [web, { ...web, state: 'exited', branch: 'a\x1b[2J' }] as const;
  const [, , ready, exited] = shown(services, {}, style);
  expect(ready).toContain('\x1b[32mready\x1b[39m');
  expect(exited).toContain('\x1b[31mexited\x1b[39m');
  expect(exited).toContain('a\\x1b[2J');
});

test('without services, that is reported', () => {
  expect(shown([])).toEqual(['no services registered']);
});
