/** Server processes that misbehave while calls are in flight, one or many. */
import { describe, expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { waitUntilGone } from '../helpers/processes.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { openFiles } from '../helpers/resources.ts';
import { nodeServer, type ServerCommand } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

interface Fault {
  readonly server: ServerCommand;
  /** The calls in flight: a tool that does not answer before the fault. */
  readonly waiting: readonly [tool: string, args?: object];
  /** The call that brings the fault about. */
  readonly fault: readonly [tool: string, args?: object];
}

const FAULTS: Readonly<Record<string, Fault>> = {
  'exits in the middle of a call': {
    server: nodeServer('crash'),
    waiting: ['crash'],
    fault: ['crash'],
  },
  'is killed in the middle of a call': {
    server: nodeServer('crash', '--signal'),
    waiting: ['crash'],
    fault: ['crash'],
  },
  'exits on every third call': {
    server: nodeServer('exit-on-third'),
    waiting: ['echo', { text: 'x' }],
    fault: ['echo', { text: 'x' }],
  },
  'closes its stdout and stays': {
    server: nodeServer('stdout-closer'),
    waiting: ['close', { stream: 'stdout' }],
    fault: ['close', { stream: 'stdout' }],
  },
  'closes its stdin and stays': {
    server: nodeServer('stdout-closer'),
    waiting: ['close', { stream: 'pipe' }],
    fault: ['close', { stream: 'pipe' }],
  },
  'never answers': {
    server: nodeServer('slow'),
    waiting: ['hang'],
    fault: ['hang'],
  },
  'floods stdout with garbage': {
    server: nodeServer('flood'),
    waiting: ['echo', { text: 'x' }],
    fault: ['flood', { stream: 'stdout', bytes: 32 * 1024 * 1024 }],
  },
  'floods stderr': {
    server: nodeServer('flood'),
    waiting: ['echo', { text: 'x' }],
    fault: ['flood', { stream: 'stderr', bytes: 32 * 1024 * 1024 }],
  },
  'writes a line without end': {
    server: nodeServer('huge'),
    waiting: ['echo', { text: 'x' }],
    fault: ['no_newline', { bytes: 100 * 1024 * 1024 }],
  },
};

describe.each(Object.entries(FAULTS))('a server that %s', (_name, { server, waiting, fault }) => {
  test.each([1, 16])(
    'with %i calls in flight: each is answered once, and nothing is left of it',
    async (calls) => {
      const { client, call } = await startGateway(
        { bad: server, good: nodeServer('echo') },
        { config: { timeouts: { rpcMs: 3000 } } },
      );
      await call('good', 'pid');
      await call('bad', 'pid');
      const files = openFiles(client.pid!);
      const answers: Promise<RpcMessage>[] = Array.from({ length: calls - 1 }, () =>
        call('bad', waiting[0], waiting[1], { deadline: 60_000 }),
      );
      answers.push(call('bad', fault[0], fault[1], { deadline: 60_000 }));
      const beside = Array.from({ length: 20 }, (_, n) => call('good', 'echo', { text: `beside ${n}` }));
      expect((await Promise.all(beside)).map(textOf)).toEqual(beside.map((_, n) => `beside ${n}`));
      await Promise.all(answers);
      expect(client.ledger.unanswered()).toEqual([]);
      expect(client.ledger.doubled()).toEqual([]);
      expect(textOf(await call('good', 'echo', { text: 'after' }))).toBe('after');
      await until(() => openFiles(client.pid!) <= files, {
        deadline: 20_000,
        what: 'the pipes of the server to be closed',
        seen: () => `${openFiles(client.pid!)} open files instead of ${files}`,
      });
      await client.close();
      await waitUntilGone(client.marker);
    },
  );
});
