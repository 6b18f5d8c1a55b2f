import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { assemblyForVite } from './scripts/lib/assembly.mjs';
import { threadsForVite } from './scripts/lib/thread.mjs';

// What a gateway under test remembers is neither read from the user's own state nor written there.
process.env.SWITCHBOARD_STATE_DIR = join(tmpdir(), `switchboard-test-state-${process.pid}`);
// Nor is the user's own configuration read or changed.
process.env.XDG_CONFIG_HOME = join(tmpdir(), `switchboard-test-config-${process.pid}`);

// No test reads or changes the keychain of whoever runs it; those about keychains have one of their own.
process.env.SWITCHBOARD_SECRET_STORE = 'file';

// The projects of tests are their own; those about asking take it away again.
process.env.SWITCHBOARD_ALLOW_PROJECT = '1';

// Where it is set, every Node that a test starts reads all certificates of the machine first, which takes longer than
// starting it. No test leaves the machine.
delete process.env.NODE_EXTRA_CA_CERTS;

/**
 * Attacks that `npm test` runs too, because each holds one fault that was found: `npm run test:attack` is all attacks.
 */
const SCENARIOS = [
  ...[
    // Clients, tokens and connections.
    ...['batches', 'client-abuse', 'notification-abuse', 'server-requests', 'http-browser', 'http-guard'],
    ...['http-connections', 'http-isolation', 'http-tokens', 'isolation-call', 'console-attacks'],
    ...['identity', 'roles'],
    // What guards tools, and scripts.
    ...['approve', 'pins', 'suite-effects', 'guarded-exposures', 'search', 'audit', 'hooks'],
    ...['code-mode', 'sandbox', 'secrets'],
    // Servers, and what they say.
    ...['bad-servers', 'call-abuse', 'child-abuse', 'child-texts', 'exits', 'lifecycle'],
    ...[
      'plain-names',
      'servers-failing',
      'remote-connections',
      'remote-dpop',
      'remote-login',
      'remote-trouble',
    ],
    // Files, configurations and secrets.
    ...[
      'allow',
      'bad-files',
      'config-reload',
      'edit-commands',
      'foreign-folders',
      'management-secrets',
      'parallel-edits',
    ],
    ...['project-secrets', 'remembered-lists', 'secret-leaks', 'state-disk', 'yard-logs', 'yard-remove'],
  ].map((name) => `test/e2e/${name}.test.ts`),
  ...['child-processes', 'find-command', 'find-executable', 'reaper', 'service-cookies'].map(
    (name) => `src/process/${name}.test.ts`,
  ),
  'src/code/sandbox-attacks.test.ts',
  ...['approval-gate', 'characters', 'pin-changes'].map((name) => `src/trust/${name}.test.ts`),
  'src/identity/oauth-resource.test.ts',
  'src/roles/access.test.ts',
  'src/shared/file-lock.test.ts',
  'src/shared/line-matcher.test.ts',
  'src/switchyard/records/git/git.test.ts',
  'src/upstream/auth/addresses.test.ts',
  'src/wire/framing.test.ts',
];

/** End-to-end tests that do not look at processes through /proc, for systems that have none. */
const PORTABLE = readdirSync('test/e2e')
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => `test/e2e/${name}`)
  .filter((file) => !/helpers\/(?:processes|host-home|yard)|\/proc\b|yard/.test(readFileSync(file, 'utf8')));

const plugins = [assemblyForVite, threadsForVite];

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
          name: 'portable',
          include: [
            ...PORTABLE,
            ...['commands', 'ending', 'gateway'].map((name) => `test/windows/${name}.test.ts`),
          ],
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
      {
        plugins,
        test: {
          name: 'attack',
          include: ['test/attack/**/*.test.ts', ...SCENARIOS],
          testTimeout: 600_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
