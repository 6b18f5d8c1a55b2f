import { expect, test } from 'vitest';
import type { ServiceStatus } from '../../switchyard/index.ts';
import { createStyle, plainStyle } from '../style.ts';
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
  ready: true,
  recent_errors: [],
};

test('services are shown as a table of status, branch, service, port, url and pid', () => {
  expect(statusLines([web], plainStyle)).toEqual([
    'status   branch     service  port   url                                       pid',
    '-------  ---------  -------  -----  ----------------------------------------  ----',
    'running  feature/x  web      20001  http://web.feature-x.shop.localhost:7331  4711',
  ]);
});

test('a column for notes appears when one of them needs it', () => {
  const lines = statusLines(
    [
      web,
      { ...web, status: 'stale', exit: { code: 3, at: 0 } },
      { ...web, ready: false },
      { ...web, health: 'unhealthy' },
      { ...web, status: 'unverified', pid: null },
    ],
    plainStyle,
  );
  expect(lines[0]).toMatch(/pid {3}note$/);
  expect(lines[3]).toMatch(/^stale .*ended with exit code 3$/);
  expect(lines[4]).toMatch(/does not listen yet$/);
  expect(lines[5]).toMatch(/unhealthy$/);
  expect(lines[6]).toMatch(/^unverified .* - {5}cannot be told from a stranger/);
});

test('good and bad have their colours, and what comes from outside cannot move the cursor', () => {
  const style = createStyle({ isTTY: true }, {});
  const [, , running, stale] = statusLines([web, { ...web, status: 'stale', branch: 'a\x1b[2J' }], style);
  expect(running).toContain('\x1b[32mrunning\x1b[39m');
  expect(stale).toContain('\x1b[31mstale\x1b[39m');
  expect(stale).toContain('a\\x1b[2J');
});

test('without services it says so', () => {
  expect(statusLines([], plainStyle)).toEqual(['no services registered']);
});
