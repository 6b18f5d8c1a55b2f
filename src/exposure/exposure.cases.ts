import { expect, test } from 'vitest';
import type { Gateway } from '../gateway/index.ts';
import {
  Component,
  Session,
  type CatalogEntry,
  type Listing,
  type Results,
  type Source,
  type ToolRules,
} from '../gateway/index.ts';
import { CLIENT_SHAPE, type JsonObject } from '../protocol/index.ts';
import { editedText, Message, type Edit } from '../wire/index.ts';

/** An exposure of tools, and how a client calls one of them through it. */
export interface ExposureCase {
  /** Creates the gateway for an entry that lacks only its exposure. */
  readonly gateway: (entry: Omit<CatalogEntry, 'exposure' | 'naming'>) => Gateway;
  /** The params of a `tools/call` for this tool with these arguments, given as JSON text. */
  readonly call: (tool: string, args: string) => string;
  /** The text from which a client learns what it may call. */
  readonly told: (gateway: Gateway) => Promise<string>;
}

/** A source inside this process that records what it is sent. */
export interface RecordingSource extends Source {
  readonly sent: string[];
}

export const SAMPLE_TOOLS = [
  '{"name":"read","title":"Read","description":"Reads a file.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"key":{"type":"string"}},"required":["path","key"]},"x-unknown":9007199254740993}',
  '{"name":"write","description":"Writes a file.","inputSchema":{"type":"object"}}',
];

/** The behaviour that all exposures have in common. */
export function exposureCases(name: string, each: ExposureCase): void {
  const open = (rules: Partial<ToolRules> = {}) => {
    const source = recordingSource('files', SAMPLE_TOOLS);
    const gateway = each.gateway({
      source,
      rules: { allows: () => true, overrides: new Map(), ...rules },
      offers: new Set(['tools']),
    });
    return { gateway, source };
  };
  const sent = (source: RecordingSource) => JSON.parse(source.sent[0] ?? 'null') as JsonObject | null;

  test(`${name}: a call reaches the server under its own name, its arguments untouched`, async () => {
    const { gateway, source } = open();
    await each.told(gateway);
    const args =
      '{"path":"a\\u0062c","key":"k","n":9007199254740993,"x":1.0,"deep":{"name":"read","arguments":[]}}';
    await sendToolCall(gateway, each.call('read', args));
    expect(source.sent[0]).toContain(args);
    expect(sent(source)).toMatchObject({ method: 'tools/call', params: { name: 'read' } });
  });

  test(`${name}: unknown members of the request arrive too`, async () => {
    const { gateway, source } = open();
    await each.told(gateway);
    const params = each
      .call('read', '{"path":"x","key":"k"}')
      .replace(/\}$/, ',"task":{"ttl":1.50},"_meta":{"x/y":[]}}');
    await sendToolCall(gateway, params);
    expect(source.sent[0]).toContain('"task":{"ttl":1.50},"_meta":{"x/y":[]}');
  });

  test(`${name}: arguments that are left out, or null, are none`, async () => {
    for (const args of ['null', '{}']) {
      const { gateway, source } = open();
      await each.told(gateway);
      await sendToolCall(gateway, each.call('write', args));
      expect(sent(source)?.params).toMatchObject({ name: 'write' });
    }
  });

  test(`${name}: a renamed tool goes by its new name, and is what its server knows`, async () => {
    const { gateway, source } = open({
      overrides: new Map([['read', { exposed: 'load', description: 'Loads it.' }]]),
    });
    if (!supportsRenames(each)) return;
    const told = await each.told(gateway);
    expect(told).toContain('load');
    expect(told).toContain('Loads it.');
    expect(told).not.toContain('Reads a file.');
    await sendToolCall(gateway, each.call('load', '{"path":"x","key":"k"}'));
    expect(sent(source)?.params).toMatchObject({ name: 'read', arguments: { path: 'x' } });
    expect(await sendToolCall(gateway, each.call('read', '{}'))).toMatch(/unknown|no subtool/i);
  });

  test(`${name}: a preset argument is filled in, whatever the client sends`, async () => {
    for (const [tool, args] of [
      ['read', '{"path":"x"}'],
      ['read', '{"key":"theirs","path":"x"}'],
      ['write', 'null'],
    ] as const) {
      const { gateway, source } = open({ overrides: new Map([[tool, { presets: { key: 'ours' } }]]) });
      await each.told(gateway);
      await sendToolCall(gateway, each.call(tool, args));
      expect(sent(source)?.params).toMatchObject({ name: tool, arguments: { key: 'ours' } });
      expect(source.sent[0]).not.toContain('theirs');
    }
  });

  test(`${name}: arguments that are no object are refused, and the server hears nothing`, async () => {
    const { gateway, source } = open();
    await each.told(gateway);
    expect(await sendToolCall(gateway, each.call('read', '[1]'))).toMatch(/must be an object/);
    expect(source.sent).toEqual([]);
  });

  test(`${name}: hidden tools are not listed`, async () => {
    const { gateway } = open({ allows: (tool) => tool !== 'write' });
    if (!supportsRenames(each)) return;
    const told = await each.told(gateway);
    expect(told).toContain('read');
    expect(told).not.toContain('write');
    const refused = await sendToolCall(gateway, each.call('write', '{}'));
    expect(refused).toMatch(/not allowed/i);
    expect(refused).not.toMatch(/did you mean/i);
  });
}

/** False for a compound tool: its configuration names the server's own tools, whatever else is hidden or renamed. */
function supportsRenames(each: ExposureCase): boolean {
  return !each.call('read', '{}').includes('"server"');
}

/** The response to the call: the error, or the text from the source. */
export async function sendToolCall(gateway: Gateway, params: string): Promise<string> {
  return ask(gateway, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`);
}

export function ask(gateway: Gateway, request: string): Promise<string> {
  return new Promise((resolve) => {
    const session = new Session({
      congested: false,
      capabilities: {},
      whenDrained: () => undefined,
      forwardAnswer: (answer) => resolve(answer.toString()),
      forwardNotification: () => undefined,
      answer: (_call, result) => resolve(JSON.stringify(result)),
      answerText: (_call, text) => resolve(text),
      fail: (_call, error) => resolve(error.explained),
      notify: () => undefined,
      ask: () => 0,
      withdraw: () => undefined,
    });
    gateway.join(session);
    const { method } = JSON.parse(request) as { method: string };
    // From text, so that values that JSON.stringify would change arrive unchanged.
    gateway.handle(session.open(Message.fromText(request, CLIENT_SHAPE), method));
  });
}

export function recordingSource(name: string, tools: readonly string[]): RecordingSource {
  const components = tools.map((text) => new Component((JSON.parse(text) as { name: string }).name, text));
  const listing: Listing = {
    components,
    byKey: new Map(components.map((each) => [each.key, each])),
    incomplete: undefined,
  };
  const sent: string[] = [];
  return {
    name,
    sent,
    state: { kind: 'running', pid: 1, since: 0 },
    about: () => undefined,
    list: () => Promise.resolve(listing),
    known: () => listing,
    remembered: () => undefined,
    request: (edits: Edit[], call) => {
      sent.push(editedText(call.request, edits));
      call.succeed({ content: [] });
    },
    start: () => Promise.resolve(),
    ask: () => Promise.reject(new Error('asked nothing')),
    notify: () => undefined,
    listen: () => undefined,
    setIdleTimeout: () => undefined,
    fail: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** For exposures whose sources have no result limits. */
export const noResults: Results = {
  fit: () => Promise.resolve([]),
  has: () => false,
  isOurs: () => false,
  readResource: () => undefined,
  readByAction: () => undefined,
  forget: () => undefined,
};
