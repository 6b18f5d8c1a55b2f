import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { serverIdentifiers } from '../shared/identifiers.ts';
import { run } from './script.cases.ts';

const TASKS = '/proc/self/task';
const threads = (): number => readdirSync(TASKS).length;
const whereThreadsShow = test.skipIf(!existsSync(TASKS));

test('nothing of Node, of files or of the network is there', async () => {
  const { text } = await run(`return [
    'process', 'require', 'module', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Buffer', 'std', 'os', 'scriptArgs', 'print',
    'Worker', 'WebAssembly', 'importScripts', 'setInterval', 'postMessage', 'parentPort', 'workerData', 'global',
  ].filter((name) => typeof globalThis[name] !== 'undefined')`);
  expect(text).toBe('[]');
  for (const code of ['import fs from "fs"', 'await import("node:fs")', 'return import.meta.url'])
    expect((await run(code)).ok).toBe(false);
});

test('every global of the interpreter is a name that no server takes', async () => {
  const { text } = await run(
    'return [...Object.getOwnPropertyNames(globalThis), ...Object.getOwnPropertyNames(Object.prototype)]',
  );
  const names = (JSON.parse(text) as string[]).filter((name) => name !== 'files');
  const taken = serverIdentifiers(names);
  expect(names.filter((name) => taken.get(name) === name)).toEqual([]);
});

test('constructors of what it is given lead back into the interpreter', async () => {
  const { text } = await run(
    `
    const found = [];
    const reach = (what, value) => {
      try { found.push([what, typeof value.constructor.constructor('return typeof process + typeof require + typeof globalThis.process')(), value.constructor.constructor('return typeof process')()]) }
      catch (error) { found.push([what, error.name]) }
    };
    reach('tool', files.echo);
    reach('namespace', files);
    reach('servers', servers);
    reach('console', console.log);
    reach('timer', setTimeout);
    reach('promise', files.echo({}));
    reach('result', await files.echo({ deep: { list: [] } }));
    await files.echo(5).catch((error) => reach('error', error));
    await files.echo({ fail: true }).catch((error) => reach('tool error', error));
    reach('caller', (function () { return arguments })());
    return found`,
    {
      call: ({ args }) =>
        args.includes('fail') ? '{"error":{"message":"x"}}' : `{"result":{"structuredContent":${args}}}`,
    },
  );
  for (const [, ...types] of JSON.parse(text) as string[][])
    expect(types.every((type) => type === 'string' || type === 'undefined' || type === 'TypeError')).toBe(
      true,
    );
  expect(text).not.toMatch(/object|function/);
});

test('changed prototypes harm only the script, and no call gets past the checks', async () => {
  const seen: unknown[] = [];
  const call = ({ server, tool, args }: { server: string; tool: string; args: string }) => {
    seen.push([server, tool, args]);
    return '{"result":{"content":[]}}';
  };
  await run(
    `const calls = [];
     const push = Array.prototype.push;
     Array.prototype.push = function (...items) { for (const item of items) if (item && item.reject) calls.push = item; return push.apply(this, items) };
     Array.prototype.shift = function () { return { id: {}, server: 'other', tool: 'delete', args: 'no json', resolve() {}, reject() {}, error: new Error() } };
     Object.prototype.toJSON = function () { return { injected: true } };
     JSON.stringify = () => '{"forged":1}';
     JSON.parse = () => { throw new Error('parse') };
     Promise.prototype.then = undefined;
     Map.prototype.get = () => 5; Map.prototype.set = () => 5;
     Object.defineProperty(Object.prototype, 'then', { get() { return (f) => f(1) } });
     files.echo({ a: 1 });
     await 1;`,
    { call },
  );
  // Either an object came out of the interpreter, or nothing did.
  for (const [, , args] of seen as string[][]) expect(JSON.parse(args ?? '')).toBeTypeOf('object');
  // Nothing is left for the next script.
  expect(
    (await run('return [JSON.stringify({ a: 1 }), typeof Array.prototype.shift, ({}).toJSON]')).text,
  ).toBe('["{\\"a\\":1}","function",null]');
});

test.each([
  ['a loop', 'let n = 0;\nfor (;;) n++;'],
  ['a loop after a wait', 'await null;\nwhile (true);'],
  ['a loop that catches everything', 'try {\n  for (;;);\n} catch {} finally {\n  for (;;);\n}'],
  [
    'jobs that lead to jobs',
    'const again = () => Promise.resolve().then(again);\nagain();\nawait new Promise(() => 0);',
  ],
  ['a loop of awaits', 'for (;;) await null;'],
  ['a regular expression', 'return /(a+)+$/.test("a".repeat(40) + "b")'],
  ['a getter in what it returns', 'return { get a() { for (;;); } }'],
  ['toJSON in arguments', 'await files.echo({ toJSON() { for (;;); } })'],
  ['a sort that never ends', '[3, 1, 2].sort(() => { for (;;); })'],
  ['a proxy that is returned', 'return new Proxy({}, { ownKeys() { for (;;); } })'],
  [
    'a thrown error with a slow message',
    'throw Object.defineProperty(new Error(), "message", { get() { for (;;); } })',
  ],
])('%s is stopped when it has computed enough', async (_name, code) => {
  const { ok, text } = await run(code, { limits: { cpuMs: 300 } });
  expect(ok).toBe(false);
  expect(text).toMatch(/computed for more than 300 ms|takes too long to look at/);
});

test.each([
  ['calls of itself', 'const f = () => f() + 1;\nreturn f()'],
  ['through native functions', 'const f = () => [1].map(f);\nreturn f()'],
  ['through getters', 'const o = { get a() { return JSON.stringify(o) } };\nreturn o.a'],
  ['proxies in proxies', 'let p = {};\nfor (let i = 0; i < 1e5; i++) p = new Proxy(p, {});\nreturn p.x'],
  ['nested JSON', 'return JSON.parse("[".repeat(1e6))'],
  ['nested code', 'return eval("(".repeat(1e6))'],
  ['nested expressions', 'return new RegExp("(?:a|b".repeat(1e5) + ")".repeat(1e5))'],
])('deep recursion ends as an error: %s', async (_name, code) => {
  const { ok, text } = await run(code);
  expect(ok).toBe(false);
  expect(text).toMatch(/stack overflow|Too much recursion|broke its interpreter/);
});

test.each([
  ['a long string', 'return "x".repeat(1e9)'],
  ['a doubled string', 'let s = "x".repeat(1000); for (;;) s += s + "y";'],
  ['a long list', 'return new Array(1e9).fill(0)'],
  ['many buffers', 'const all = []; for (;;) all.push(new Uint8Array(1e6).fill(1));'],
  ['one buffer', 'return new ArrayBuffer(4e9)'],
  ['many objects', 'const all = []; for (let n = 0; ; n++) all.push({ n, s: "s" + n });'],
  ['many timers', 'for (let n = 0; n < 1e6; n++) setTimeout(() => 0, 1e6);'],
  ['many promises', 'const all = []; for (;;) all.push(new Promise(() => 0));'],
])('memory is bounded: %s', async (_name, code) => {
  const before = process.memoryUsage().rss;
  const { ok, text } = await run(code, { limits: { memoryMb: 32, cpuMs: 700 } });
  expect(ok).toBe(false);
  expect(text).toMatch(
    /needs more than 32 MiB|out of memory|too long|invalid array|timers already|computed for/i,
  );
  expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
});

test('a promise that nothing settles is found out', async () => {
  expect((await run('await new Promise(() => 0)')).text).toMatch(/nothing will settle/);
  expect((await run('return new Promise(() => 0)')).text).toMatch(/nothing will settle/);
  expect((await run('return { then() {} }')).text).toMatch(/nothing will settle/);
});

test('ten thousand calls end at the limit, however they are made', async () => {
  let sent = 0;
  const call = () => (sent++, '{"result":{"content":[]}}');
  const many = await run('await Promise.all(Array.from({ length: 10000 }, () => files.echo({})))', {
    call,
    limits: { maxCalls: 500 },
  });
  expect(many.text).toMatch(/made 500 calls, which is the limit/);
  expect(sent).toBe(500);
  sent = 0;
  const stubborn = await run(
    'let refused = 0; for (let n = 0; n < 10000; n++) await files.echo({}).catch(() => refused++); return refused',
    { call, limits: { maxCalls: 500, cpuMs: 20_000 } },
  );
  expect(stubborn.text).toBe('9500');
  expect(sent).toBe(500);
});

test('what goes in and out has a length', async () => {
  const args = await run('await files.echo({ a: "x".repeat(5e6) })');
  expect(args.text).toMatch(/longer than 4194304 characters/);
  const logged = await run('for (let n = 0; n < 1e5; n++) console.log("x".repeat(100)); return 1', {
    limits: { cpuMs: 20_000 },
  });
  expect(logged.ok).toBe(true);
  expect(logged.text.length).toBeLessThan(300_000);
  const huge = await run('const a = await files.echo({}); return a.length', {
    call: () => JSON.stringify({ result: { content: [{ type: 'text', text: 'y'.repeat(60e6) }] } }),
  });
  expect(huge).toMatchObject({ ok: false, text: expect.stringMatching(/memory/) as string });
  const fine = await run('const a = await files.echo({}); return a.length', {
    call: () => JSON.stringify({ result: { content: [{ type: 'text', text: 'y'.repeat(5e6) }] } }),
  });
  expect(fine.text).toBe('5000000');
});

test('two scripts at one time know nothing of each other', async () => {
  const secret = run(
    'globalThis.secret = "mine"; Object.prototype.leak = secret; await files.echo({}); return secret',
    {
      call: async () => {
        const other = await run('return [typeof secret, ({}).leak, Object.keys(globalThis)]');
        expect(other.text).toBe('["undefined",null,[]]');
        return '{"result":{"content":[]}}';
      },
    },
  );
  expect((await secret).text).toBe('mine');
});

whereThreadsShow('the gateway is not held up by scripts, and gets their threads back', async () => {
  await run('1');
  const before = threads();
  let turns = 0;
  const turning = setInterval(() => turns++, 1);
  await Promise.all(Array.from({ length: 3 }, () => run('for (;;);', { limits: { cpuMs: 300 } })));
  clearInterval(turning);
  // If scripts ran in this thread, there would be no turns in between.
  expect(turns).toBeGreaterThan(10);
  expect(threads()).toBeLessThanOrEqual(before);
});

whereThreadsShow('a thread that is stopped in the middle leaves nothing', async () => {
  const before = threads();
  for (let n = 0; n < 3; n++) {
    const stop = new AbortController();
    const script = run('for (;;);', { signal: stop.signal, limits: { cpuMs: 60_000 } });
    setTimeout(() => stop.abort(new Error('stop')), 20 * n);
    await expect(script).rejects.toThrow('stop');
  }
  expect(threads()).toBeLessThanOrEqual(before);
});
