import { expect, test } from 'vitest';
import { Component, Gateway, type Listing, type Source } from '../../gateway/index.ts';
import { ask, recordingSource, sendToolCall, type RecordingSource } from '../exposure.cases.ts';
import { suite } from './suite.ts';

const tool = (name: string, annotations?: object): string =>
  JSON.stringify({ name, inputSchema: { type: 'object' }, annotations });
const READ = tool('read', { readOnlyHint: true, openWorldHint: false });
const WRITE = tool('write', { destructiveHint: false, openWorldHint: false });

/** A server with a changeable list: the remembered list and the current one. */
function changeable(...tools: string[]) {
  let listing = listingOf(tools);
  let known: Listing | undefined = listing;
  let fails = false;
  const recorded: RecordingSource = recordingSource('files', tools);
  const source: Source = {
    ...recorded,
    known: () => known,
    remembered: () => listing,
    list: () => {
      if (fails) return Promise.reject(new Error('no list'));
      known = listing;
      return Promise.resolve(listing);
    },
  };
  return {
    source,
    sent: recorded.sent,
    change: (...next: string[]) => void (known = listing = listingOf(next)),
    failToList: () => {
      fails = true;
      known = undefined;
    },
    forget: () => void (known = undefined),
  };
}

function listingOf(tools: readonly string[]): Listing {
  const components = tools.map((text) => new Component((JSON.parse(text) as { name: string }).name, text));
  return { components, byKey: new Map(components.map((each) => [each.key, each])), incomplete: undefined };
}

function gatewayOf(source: Source, { split, denied }: { split?: 'effect'; denied?: string } = {}): Gateway {
  return new Gateway({
    entries: [
      {
        source,
        rules: { allows: (name) => name !== denied, overrides: new Map() },
        offers: new Set(['tools']),
        naming: 'prefixed',
        exposure: suite({
          name: undefined,
          description: 'Files.',
          purpose: undefined,
          summaryMaxChars: 160,
          instructionsMaxChars: 2000,
          introspection: 'redacted',
          split,
        }),
      },
    ],
  });
}

async function listed(
  gateway: Gateway,
): Promise<{ name: string; description: string; annotations?: object }[]> {
  const text = await ask(gateway, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  return (JSON.parse(text) as { tools: [] }).tools;
}

const call = (name: string, subtool: string): string =>
  `{"name":"${name}","arguments":{"action":"call","subtool":"${subtool}","args":{}}}`;
const introspect = (name: string, subtool = ''): string =>
  `{"name":"${name}","arguments":{"action":"introspect","subtool":"${subtool}"}}`;

test('a suite says what all of its tools do together', async () => {
  const both = await listed(gatewayOf(changeable(READ, WRITE).source));
  expect(both[0]?.annotations).toEqual({
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  });
  const onlyReads = await listed(gatewayOf(changeable(READ, WRITE).source, { denied: 'write' }));
  expect(onlyReads[0]?.annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  const silent = await listed(gatewayOf(changeable(READ, tool('x')).source));
  expect(silent[0]?.annotations).toMatchObject({
    readOnlyHint: false,
    destructiveHint: true,
    openWorldHint: true,
  });
});

test('a suite that was listed without annotations keeps that for the same client', async () => {
  const { source } = changeable(READ);
  let listing: Listing | undefined = undefined;
  const gateway = gatewayOf({ ...source, remembered: () => listing });
  const before = await listed(gateway);
  expect(before[0]).not.toHaveProperty('annotations');
  listing = listingOf([READ]);
  gateway.announceTools();
  gateway.toolsListed('files');
  expect(await listed(gateway)).toEqual(before);
});

test('a tool that writes is not run by a suite that was listed as read-only, until clients know', async () => {
  const server = changeable(READ);
  const gateway = gatewayOf(server.source);
  expect((await listed(gateway))[0]?.annotations).toMatchObject({ readOnlyHint: true });
  server.change(READ, WRITE);
  expect(await sendToolCall(gateway, call('files_suite', 'write'))).toMatch(
    /was not run.*has changed its tools/,
  );
  expect(server.sent).toEqual([]);
  gateway.toolsListed('files');
  expect((await listed(gateway))[0]?.annotations).toMatchObject({ readOnlyHint: false });
  await sendToolCall(gateway, call('files_suite', 'write'));
  expect(server.sent).toHaveLength(1);
  // During a run, annotations never become less strict.
  server.change(READ);
  gateway.toolsListed('files');
  expect((await listed(gateway))[0]?.annotations).toMatchObject({ readOnlyHint: false });
});

test('a suite that was listed as read-only runs nothing that its server cannot list', async () => {
  const server = changeable(READ);
  const gateway = gatewayOf(server.source);
  await listed(gateway);
  server.failToList();
  expect(await sendToolCall(gateway, call('files_suite', 'write'))).toMatch(/was not run/);
  expect(server.sent).toEqual([]);
});

test('split by effect, there is a tool that only reads and one for the rest', async () => {
  const { source, sent } = changeable(READ, WRITE);
  const gateway = gatewayOf(source, { split: 'effect' });
  const [rest, reading] = await listed(gateway);
  expect(rest).toMatchObject({ name: 'files_suite', annotations: { readOnlyHint: false } });
  expect(reading).toMatchObject({
    name: 'files_read',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  });
  expect(rest?.description).toContain('files_read');
  expect(reading?.description).toContain('files_suite');
  await sendToolCall(gateway, call('files_read', 'read'));
  await sendToolCall(gateway, call('files_suite', 'write'));
  expect(sent).toHaveLength(2);
});

test('each of the two shows its own tools, and names the other for the rest', async () => {
  const { source, sent } = changeable(READ, WRITE);
  const gateway = gatewayOf(source, { split: 'effect' });
  const told = await sendToolCall(gateway, introspect('files_read'));
  expect(told).toContain('"name":"read"');
  expect(told).not.toContain('"name":"write"');
  expect(told).toContain("'files_suite' has the other subtools");
  expect(await sendToolCall(gateway, introspect('files_suite', 'read'))).toContain("the tool 'files_read'");
  expect(await sendToolCall(gateway, call('files_read', 'write'))).toMatch(
    /'write' may change something, so 'files_read' does not run it\. Call it with the tool 'files_suite'/,
  );
  expect(await sendToolCall(gateway, call('files_suite', 'read'))).toContain("the tool 'files_read'");
  expect(sent).toEqual([]);
});

test('what the configuration hides stays hidden from both', async () => {
  const gateway = gatewayOf(changeable(READ, WRITE).source, { split: 'effect', denied: 'write' });
  for (const name of ['files_read', 'files_suite'])
    expect(await sendToolCall(gateway, call(name, 'write'))).toMatch(/not allowed/);
});

test('before anything is known, the reading tool is read-only and asks for the list before it runs anything', async () => {
  const server = changeable(READ, WRITE);
  server.forget();
  const gateway = gatewayOf({ ...server.source, remembered: () => undefined }, { split: 'effect' });
  const [rest, reading] = await listed(gateway);
  expect(rest).not.toHaveProperty('annotations');
  expect(reading?.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: true });
  expect(await sendToolCall(gateway, call('files_read', 'write'))).toContain("the tool 'files_suite'");
  expect(server.sent).toEqual([]);
  server.failToList();
  expect(await sendToolCall(gateway, call('files_read', 'read'))).toMatch(/was not run/);
  expect(server.sent).toEqual([]);
});

test('a tool that starts to write after it was listed is not run by the reading tool', async () => {
  const server = changeable(READ, WRITE);
  const gateway = gatewayOf(server.source, { split: 'effect' });
  await sendToolCall(gateway, call('files_read', 'read'));
  server.change(tool('read'), WRITE);
  expect(await sendToolCall(gateway, call('files_read', 'read'))).toContain("the tool 'files_suite'");
  expect(server.sent).toHaveLength(1);
});

test('a tool that its server says twice, in two ways, counts once', async () => {
  const server = changeable(READ, WRITE);
  const gateway = gatewayOf(server.source, { split: 'effect' });
  expect(await sendToolCall(gateway, call('files_read', 'write '))).toMatch(/no subtool/);
});
