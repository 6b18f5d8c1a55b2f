import { expect, test } from 'vitest';
import { TimeLimit } from '../shared/time-limit.ts';
import { runScript } from './run-script.ts';
import { LIMITS, run } from './script.cases.ts';
import { startThread } from './threads.ts';

test('the result of a script is what it returns, or the value of its last expression', async () => {
  const texts = await Promise.all(
    [
      'return [1, 2].map((n) => n * 2)',
      'const a = 40;\na + 2',
      'await files.echo({ text: "hi" })',
      '"as it is"',
      // Both at once, and promises that are never awaited.
      'const double = (n) => { return n * 2 };\ndouble(21)',
      'files.echo({ n: 1 })',
      '[1, 2].map((n) => files.echo({ n }))',
      'return new Map([["a", new Set([1n])]])',
      'return "\\u0000 \\ud83d\\ude00 \\ud800!"',
    ].map(async (code) => (await run(code)).text),
  );
  expect(texts).toEqual([
    '[2,4]',
    '42',
    '{"text":"hi"}',
    'as it is',
    '42',
    '{"n":1}',
    '[{"n":1},{"n":2}]',
    '{"a":["1"]}',
    '\u0000 😀 \ud800!',
  ]);
});

test('what it logs comes with what it returns', async () => {
  const { ok, text } = await run('console.log("step", { n: 1 }); console.error(new Error("no")); return 2');
  expect(ok).toBe(true);
  expect(text).toBe('2\n\nLogged:\nstep {"n":1}\nError: no');
  expect((await run('console.log("only this")')).text).toBe('only this');
  expect((await run('let x = 1;')).text).toMatch(/returned nothing/);
});

test('types are stripped, also those that are more than a comment', async () => {
  const { text } = await run(`
    interface Row { readonly id: number; name?: string }
    enum Kind { Small = 'small' }
    const rows: Row[] = await Promise.all([1, 2].map(async (id): Promise<Row> => (await files.echo({ id })) as Row));
    const total = <number>rows.reduce<number>((sum, { id }: Row) => sum + id, 0);
    const by = new Map<number, Row>(rows.map((row) => [row.id, row] as const));
    return { total, kind: Kind.Small, has: by.has(2)!, ok: rows satisfies Row[] };
  `);
  expect(text).toBe('{"total":3,"kind":"small","has":true,"ok":[{"id":1},{"id":2}]}');
});

test('an error names the line as it was written, and the tool that failed', async () => {
  const failing = (code: string) =>
    run(code, {
      call: ({ args }) =>
        args.includes('bad')
          ? '{"result":{"isError":true,"content":[{"type":"text","text":"No such row."}]}}'
          : '{"result":{"content":[]}}',
    });
  const typed = await failing(
    'interface A {\n  b: string;\n}\nconst n: number = 1;\nawait files.echo({});\nawait files.echo({\n  id: "bad" });',
  );
  expect(typed.ok).toBe(false);
  expect(typed.text).toBe(
    'Line 6: files.echo failed: No such row.\n  6 | await files.echo({\nCalls that had succeeded: files.echo.',
  );
  expect((await failing('\nconst x = null;\nreturn x.y')).text).toMatch(
    /^Line 3: TypeError: .*\n {2}3 \| return x\.y$/,
  );
  expect((await failing('const ok = 1;\nconst = 2;')).text).toMatch(/^Line 2: SyntaxError: /);
  expect((await failing('const f = () => {\n  throw new RangeError("mine");\n};\nf();')).text).toMatch(
    /^Line 2: RangeError: mine/,
  );
  expect((await failing('throw { odd: true }')).text).toBe('Error: {"odd":true}');
  const caught = await failing(
    'try { await files.echo({ id: "bad" }) } catch (e) { return [e instanceof ToolError, e.message, e.tool, e.server, e.code] }',
  );
  expect(caught.text).toBe('[true,"No such row.","echo","files","TOOL_ERROR"]');
});

test('names that are near say so', async () => {
  expect((await run('await files.ecco({})')).text).toMatch(
    /Server 'files' has no tool 'ecco'\. Did you mean "echo"\?/,
  );
  expect((await run('await file.echo({})')).text).toMatch(/'?file'? is not defined\. Did you mean "files"\?/);
  expect((await run('await servers.nobody.echo({})')).text).toMatch(
    /no server 'nobody' here\. There are: files/,
  );
  expect((await run('return ["echo" in files, Object.keys(files), Object.keys(servers)]')).text).toBe(
    '[true,["echo"],["files"]]',
  );
});

test('names that are no identifiers have one, and their own as well', async () => {
  const servers = [
    { name: 'my-server', tools: ['get-sum', 'get_sum', 'a.b/c', '2nd', 'delete'] },
    { name: 'my_server', tools: ['x'] },
    { name: 'console', tools: ['log'] },
    { name: '__proto__', tools: ['__proto__', 'constructor', 'then', 'toString'] },
    { name: 'constructor', tools: ['prototype'] },
  ];
  const call = ({ server, tool }: { server: string; tool: string }) =>
    JSON.stringify({ result: { content: [{ type: 'text', text: `${server}/${tool}` }] } });
  const { text } = await run(
    `return await Promise.all([
      my_server_2['get-sum']({}), my_server_2.get_sum({}), my_server_2.get_sum_2({}), my_server_2.a_b_c({}),
      my_server_2._2nd({}), my_server_2.delete({}), my_server.x({}), servers['my-server']['a.b/c'](),
      console_.log({}), servers.console.log({}), __proto___.__proto__({}), __proto___.constructor({}),
      servers['__proto__'].then({}), __proto___.toString({}), constructor_.prototype({}),
    ])`,
    { servers, call },
  );
  expect(JSON.parse(text)).toEqual([
    'my-server/get-sum',
    'my-server/get_sum',
    'my-server/get-sum',
    'my-server/a.b/c',
    'my-server/2nd',
    'my-server/delete',
    'my_server/x',
    'my-server/a.b/c',
    'console/log',
    'console/log',
    '__proto__/__proto__',
    '__proto__/constructor',
    '__proto__/then',
    '__proto__/toString',
    'constructor/prototype',
  ]);
});

test('a result is its structured content, else its text, parsed where it is an object or a list', async () => {
  const results: Record<string, unknown> = {
    structured: { content: [{ type: 'text', text: 'for people' }], structuredContent: { n: 1 } },
    json: { content: [{ type: 'text', text: ' [1, {"a": 2}]\n' }] },
    number: { content: [{ type: 'text', text: '42' }] },
    broken: { content: [{ type: 'text', text: '{not json' }] },
    several: {
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    },
    none: { content: [] },
    image: {
      content: [
        { type: 'text', text: 'a' },
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
      ],
    },
    old: { toolResult: 5 },
  };
  const { text } = await run(
    `const all = {};
     for (const id of ${JSON.stringify(Object.keys(results))}) all[id] = await files.echo({ id });
     return all`,
    { call: ({ args }) => JSON.stringify({ result: results[(JSON.parse(args) as { id: string }).id] }) },
  );
  expect(JSON.parse(text)).toEqual({
    structured: { n: 1 },
    json: [1, { a: 2 }],
    number: '42',
    broken: '{not json',
    several: 'a\nb',
    none: '',
    image: results.image && (results.image as { content: unknown }).content,
    old: { toolResult: 5 },
  });
});

test('arguments are one object; anything else is refused before it is sent', async () => {
  let sent = 0;
  const call = () => (sent++, '{"result":{"content":[]}}');
  const { text } = await run(
    `const said = [];
     const circular = {}; circular.self = circular;
     for (const args of [['text'], [[1]], [null], [{}, {}], [5], [circular], [{ toJSON: () => 'x' }], [{ n: 1n }], [{ get a() { throw new Error('getter') } }]])
       await files.echo(...args).catch((error) => said.push(error.message));
     return said`,
    { call },
  );
  expect(JSON.parse(text)).toEqual([
    ...Array<string>(5).fill('files.echo takes one object with its arguments by name.'),
    expect.stringMatching(/circular/),
    'The arguments of files.echo must be an object.',
    expect.stringMatching(/bigint|BigInt/i),
    'getter',
  ]);
  expect(sent).toBe(0);
});

test('calls run side by side, up to the limit, and the rest waits', async () => {
  let most = 0;
  let running = 0;
  let release = (): void => undefined;
  const full = new Promise<void>((resolve) => (release = resolve));
  const { text, calls } = await run(
    'return (await Promise.all(Array.from({ length: 20 }, (_, n) => files.echo({ n })))).map(({ n }) => n)',
    {
      limits: { concurrency: 3 },
      call: async ({ args }) => {
        most = Math.max(most, ++running);
        if (running === 3) release();
        await full;
        running--;
        return `{"result":{"structuredContent":${args}}}`;
      },
    },
  );
  expect(JSON.parse(text)).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(calls).toBe(20);
  expect(most).toBe(3);
});

test('a call that is not awaited is waited for, and its failure is reported', async () => {
  let done = false;
  const { ok, text } = await run(
    'void files.echo({ n: 1 }).catch(() => 0); void files.echo({ n: 2 }).catch(() => 0); return "early"',
    {
      call: async ({ args }) => {
        await new Promise((resume) => setTimeout(resume, 20));
        if (args.includes('2')) return '{"error":{"code":-32602,"message":"no"}}';
        done = true;
        return '{"result":{"content":[]}}';
      },
    },
  );
  expect({ ok, done }).toEqual({ ok: true, done: true });
  expect(text).toBe('early\n\nA call that the script did not wait for failed: files.echo: no');
});

test('timers are its own', async () => {
  const { text } = await run(
    'const at = Date.now(); const off = setTimeout(() => console.log("never"), 1); clearTimeout(off);\nawait new Promise((done) => setTimeout(done, 30, 1));\nreturn Date.now() - at >= 25',
  );
  expect(text).toBe('true');
});

test('stopping it cancels the calls it waits for, and ends the thread', async () => {
  const stop = new AbortController();
  let cancelled = false;
  const script = run('await files.echo({})', {
    signal: stop.signal,
    call: (_call, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          cancelled = true;
          reject(new Error('cancelled'));
        });
        stop.abort(new Error('enough'));
      }),
  });
  await expect(script).rejects.toThrow('enough');
  expect(cancelled).toBe(true);
});

test('the time limit names what the script was waiting for; a held limit does not run out', async () => {
  const never = () => new Promise<string>(() => undefined);
  const slow = await run('await files.echo({})', { limits: { timeoutMs: 1500 }, call: never });
  expect(slow).toMatchObject({
    ok: false,
    text: 'The script took longer than 1500 ms. It was waiting for files.echo.',
  });
  const time = new TimeLimit(1000);
  const held = await time.hold(() =>
    runScript({
      thread: startThread(64),
      code: 'await files.echo({})',
      servers: [{ name: 'files', tools: ['echo'] }],
      limits: { ...LIMITS, timeoutMs: 1000 },
      time,
      call: async () => {
        await new Promise((resume) => setTimeout(resume, 1200));
        return '{"result":{"content":[{"type":"text","text":"at last"}]}}';
      },
      signal: new AbortController().signal,
    }),
  );
  time.close();
  expect(held.text).toBe('at last');
});

test('a result that is too long is cut, and says so', async () => {
  const { text } = await run('return Array.from({ length: 5000 }, (_, n) => `row ${n}`)', {
    limits: { maxTokens: 200 },
  });
  expect(text.length).toBeLessThan(1500);
  expect(text).toMatch(/^\["row 0",.*…\n\(Cut here: \d+ of \d+ characters are left out\. Return less/s);
});
