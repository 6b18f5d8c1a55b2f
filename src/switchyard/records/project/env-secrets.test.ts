import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { testYard } from '../../../../test/helpers/yard-home.ts';
import { ensureProject } from '../state/project-record.ts';
import { envSecretMask } from './env-secrets.ts';
import { cheapestMs } from '../../../../test/helpers/cheapest.ts';

const SERVICES =
  '[env]\nlink = ["config/keys"]\n[services.web]\ncommand = "node web.js"\n[services.api]\ncommand = "node api.js"\ncwd = "api"\n';

test('values of env files are masked if they are secrets', async () => {
  const { context } = await testYard(SERVICES);
  const { root } = context.config;
  writeFileSync(
    join(root, '.env'),
    [
      'GITHUB_TOKEN=ghp_plain',
      'export DB_PASSWORD="with \\"quotes\\" and # sign" # a comment',
      "API_KEY='single quoted'",
      'STRIPE=sk_live_51HxYzAbCdEf00 # live',
      'DATABASE_URL=postgres://shop:p%40ssw0rd@db.local:5432/shop',
      'PRIVATE_KEY="-----BEGIN KEY-----',
      'MIIEvQIBADANBgkqhkiG9w0B',
      '-----END KEY-----"',
      'NEXTAUTH_URL=http://localhost:3000',
      'HOST=localhost',
      'NODE_ENV=development',
      'EMPTY_SECRET=',
      'not an assignment',
    ].join('\n'),
  );
  const mask = envSecretMask(context);
  expect(mask('using ghp_plain')).toBe('using ***');
  expect(mask('pw: with "quotes" and # sign.')).toBe('pw: ***.');
  expect(mask('single quoted')).toBe('***');
  expect(mask('charge with sk_live_51HxYzAbCdEf00')).toBe('charge with ***');
  expect(mask('postgres://shop:p%40ssw0rd@db.local or p@ssw0rd')).toBe('postgres://shop:***@db.local or ***');
  expect(mask('  MIIEvQIBADANBgkqhkiG9w0B')).toBe('  ***');
  const plain = 'http://localhost:3000 of localhost in development';
  expect(mask(plain)).toBe(plain);
});

test('the files of all services, worktrees and [env] count', async () => {
  const { context } = await testYard(SERVICES);
  const { root } = context.config;
  const worktree = join(context.home.worktrees, 'x');
  for (const directory of ['api', 'config']) {
    mkdirSync(join(root, directory));
    mkdirSync(join(worktree, directory), { recursive: true });
  }
  await context.registry.change((state) => {
    const record = { branch: 'x', slug: 'x', path: worktree, updated_at: '' };
    ensureProject(state, context.config).worktrees['x'] = record;
  });
  const files = {
    [join(root, 'api', '.env.local')]: 'of-the-service',
    [join(root, 'config', 'keys')]: 'of-the-list',
    [join(worktree, '.env')]: 'of-the-worktree',
    [join(worktree, 'api', '.env.development')]: 'of-its-service',
    [join(worktree, 'config', 'keys')]: 'of-its-list',
  };
  for (const [file, value] of Object.entries(files)) writeFileSync(file, `A_SECRET=${value}\n`);
  writeFileSync(join(root, 'other'), 'A_SECRET=of-no-env-file\n');
  const mask = envSecretMask(context);
  for (const value of Object.values(files)) expect(mask(`<${value}>`)).toBe('<***>');
  expect(mask('of-no-env-file')).toBe('of-no-env-file');
});

test('without env files nothing changes', async () => {
  const { context } = await testYard();
  expect(envSecretMask(context)('as it is')).toBe('as it is');
});

test.each([
  ['colons', `A=a://${':'.repeat(256 * 1024 - 6)}`],
  ['colons and an at sign', `A=a://${':'.repeat(256 * 1024 - 8)}@/`],
  ['at signs', `A=a://${':@'.repeat(128 * 1024 - 4)}`],
  ['comments that do not end', `A=${' #'.repeat(128 * 1024 - 8)}\u2028`],
  ['lines without a value', 'A=a://::::\n'.repeat(23_000)],
  ['open quotes', `A="${'\\"'.repeat(100_000)}\nB='${'\n'.repeat(50_000)}`],
])('a hostile env file of 256 KiB is read in time: %s', async (_, text) => {
  const { context } = await testYard(SERVICES);
  writeFileSync(join(context.config.root, '.env'), text);
  expect(
    cheapestMs(250, () => {
      envSecretMask(context)('as it is');
    }),
  ).toBeLessThan(250);
});
