import { expect, test } from 'vitest';
import { ABUSES, startAbused } from '../helpers/abuses.ts';
import { startWatchedGateway } from '../helpers/canary.ts';

/**
 * How long the event loop may be held up, in milliseconds of computing. The goal is 50 (`test/attack`); here only what is
 * clearly over it fails, because these tests run on any machine.
 */
const MAX_HELD = 250;

/** One of each kind; `npm run test:attack` has all. */
const CHOSEN = [
  'a list of schemas',
  'a list of items',
  'a list of schemas, exposed flat',
  'a list of schemas that is asked for in full',
  'megabytes in initialize',
  'an answer of bare',
  'an answer of error',
  '320 MB of lines x',
];
const abuses = ABUSES.filter(({ name }) => CHOSEN.includes(name));

test('every chosen abuse is known', () => expect(abuses).toHaveLength(CHOSEN.length));

test.skipIf(process.platform !== 'linux').each(abuses.map((abuse) => [abuse.name, abuse] as const))(
  'calls to other servers go on during %s',
  { timeout: 300_000 },
  async (_, abuse) => {
    const gateway = await startWatchedGateway({ bad: await startAbused(abuse) });
    const { longest } = await gateway.during(() => abuse.run(gateway.client));
    expect(longest).toBeLessThan(MAX_HELD);
  },
);
