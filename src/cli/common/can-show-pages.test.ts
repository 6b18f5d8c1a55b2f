import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { createProject } from '../../../test/helpers/temp-project.ts';
import { canShowPages } from './can-show-pages.ts';

test('a page can be shown where there is a screen, a program that opens pages, and a person before it', () => {
  const project = createProject();
  const opener = project.write('bin/xdg-open', '#!/bin/sh\n');
  chmodSync(opener, 0o755);
  const shows = (env: NodeJS.ProcessEnv, platform: NodeJS.Platform = 'linux'): boolean =>
    canShowPages({ cwd: project.dir, env }, platform);
  const PATH = dirname(opener);
  expect(shows({ PATH, DISPLAY: ':0' })).toBe(true);
  expect(shows({ PATH, WAYLAND_DISPLAY: 'wayland-0' })).toBe(true);
  expect(shows({ PATH })).toBe(false);
  expect(shows({ PATH: project.dir, DISPLAY: ':0' })).toBe(false);
  expect(shows({}, 'darwin')).toBe(true);
  for (const platform of ['linux', 'darwin', 'win32'] as const)
    expect(shows({ PATH, DISPLAY: ':0', SSH_CONNECTION: '10.0.0.1 1 10.0.0.2 22' }, platform)).toBe(false);
});
