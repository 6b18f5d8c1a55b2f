import { expect, test } from 'vitest';
import type { ProjectConfig } from '../../records/config/definition.ts';
import type { State } from '../../records/state/records.ts';
import { takenPorts } from './reserved-ports.ts';

test('the ports of all projects are taken, except those of services that are about to restart', () => {
  const state = {
    version: 1,
    project_aliases: {},
    proxies: { 7000: {} },
    projects: {
      '/shop': {
        root: '/shop',
        services: { 'a::web': { port: 1, desired_port: 11 }, 'a::api': { port: 2, desired_port: null } },
        checkouts: { 'a::web': { listen_port: 11 } },
      },
      '/other': {
        root: '/other',
        services: { 'a::web': { port: 3, desired_port: 13 } },
        checkouts: { 'b::web': { listen_port: 14 } },
      },
    },
  } as unknown as State;
  const config = {
    root: '/shop',
    proxy: { port: 7331 },
    services: [{ port: 11 }, { port: 12 }, { port: undefined }],
  } as unknown as ProjectConfig;
  expect([...takenPorts(state, config, new Set(['a::web']))].sort((a, b) => a - b)).toEqual([
    2, 3, 11, 12, 13, 14, 7000, 7331,
  ]);
});
