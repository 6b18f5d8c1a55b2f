import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { assemblyForVite } from './scripts/lib/assembly.mjs';

// What a gateway under test remembers is neither read from the user's own state nor written there.
process.env.SWITCHBOARD_STATE_DIR = join(tmpdir(), `switchboard-test-state-${process.pid}`);
// Nor is the user's own configuration read or changed.
process.env.XDG_CONFIG_HOME = join(tmpdir(), `switchboard-test-config-${process.pid}`);

// The projects of tests are their own; those about asking take it away again.
process.env.SWITCHBOARD_ALLOW_PROJECT = '1';

// Where it is set, every Node that a test starts reads all certificates of the machine first, which takes longer than
// starting it. No test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;

const plugins = [assemblyForVite];

export default defineConfig({
  test: {
    // Most tests wait for other processes; on a small machine three at a time keep it busy.
    maxWorkers: 3,
    projects: [
      { plugins, test: { name: 'unit', include: ['src/**/*.test.ts'], testTimeout: 30_000 } },
      {
        plugins,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        plugins,
        test: {
          name: 'stress',
          include: ['test/stress/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
