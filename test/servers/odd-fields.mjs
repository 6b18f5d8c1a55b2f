/**
 * A server whose every message is legal and unusual: members nobody knows, numbers and texts spelled in ways that no
 * program would write again the same. All of it is written as text, never through JSON.stringify, so that a relay that
 * parses and writes anew is found out.
 *
 *   node test/servers/odd-fields.mjs
 *
 * Tools, by what is odd about the answer:
 *   members, content, numbers, escaped, spaced, utf8, deep, large {bytes}, failed (isError), refused {code: -32002 | -32042
 *   | 4711} (an error with data), alike (ids everywhere in it), wait_alike {tag} (answered by release, so that many can
 *   wait at once), release
 * and by what else they send:
 *   progress (5 reports in one write with the answer), tell (notifications of unknown methods), log {level}, touch
 *   (resources/updated), ask {method, params} (gives back the text of the response), as_received (gives back the text of
 *   its own request), hang (reports progress once, never answers), cancellations (what it was told of), last_notification
 *   {method} (its text, as it arrived).
 * In texts that it gives back, its own ids and progress tokens are replaced by (id) and (token).
 * Resources: odd://text, odd://blob; template odd://item/{id}. Prompts: plain, embedded {topic}. Completions for both.
 */
import { NO_ANSWER, serve } from './lib/server.mjs';

const raw = String.raw;

const initializeResult = (version) =>
  `{"weather":{"today":"fine","t":21.50},"protocolVersion":${JSON.stringify(version)},"capabilities":{` +
  '"telepathy":{"range":1.0},"tools":{"listChanged":true,"paging":{"size":7}},"logging":{"colours":-0},' +
  '"resources":{"subscribe":true,"listChanged":true,"future":null},"prompts":{"listChanged":true},"completions":{},' +
  '"experimental":{"vendor.example/x":{"big":9007199254740993}},"extensions":{"vendor.example/y":{}}},' +
  '"serverInfo":{"flavour":"vanilla","name":"odd-fields","title":"Odd","version":"1.0.0",' +
  '"icons":[{"src":"data:image/png;base64,","sizes":["any"],"glow":true}]},' +
  raw`"instructions":"Odd on purp\u006fse.","_meta":{"vendor.example/z":[1.0]}}`;

/** A result with one text and more members. */
const withText = (more) => `{"content":[{"type":"text","text":"odd"}],${more}}`;

const toJson = (text) => JSON.stringify({ content: [{ type: 'text', text }] });

/** Its own id and token are not the sender's, so nobody could compare them. */
const withoutOwn = (json) =>
  json
    .replace(/("(?:id|requestId)"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|[\d.eE+-]+)/, '$1(id)')
    .replace(/("progressToken"\s*:\s*)(?:"(?:[^"\\]|\\.)*"|[\d.eE+-]+)/, '$1(token)');

const notifications = new Map();
const waiting = [];

/** Each tool: its definition as text, and what it does: a result as text, or its own way of answering. */
const tools = {
  members: {
    definition:
      '{"x-first":{"name":"decoy","description":"decoy","inputSchema":{}},"name":"members","title":"Members nobody knows",' +
      '"description":"A result with members nobody knows.","inputSchema":{"type":"object","x-order":[2,1],"properties":{}},' +
      '"annotations":{"readOnlyHint":true,"mood":"odd","priority":0.10},"icons":[{"src":"https://example.org/i.png",' +
      '"mimeType":"image/png","sizes":["48x48"],"glow":1e2}],"_meta":{"vendor.example/a":{"b":[null,{}]}},' +
      '"execution":{"taskSupport":"forbidden","later":true},"x-last":""}',
    run: () =>
      withText(
        '"future":{"a":[1,{"b":null}]},"_meta":{"vendor.example/x":1.0},"resultType":"complete","isError":false,"":0',
      ),
  },
  numbers: {
    definition:
      '{"name":"numbers","description":"Numbers that a parser would change.","inputSchema":{"type":"object","properties":{' +
      '"n":{"type":"number","maximum":9007199254740993,"minimum":-0,"multipleOf":1.0,"default":1.50},' +
      '"m":{"type":"integer","exclusiveMaximum":1e3,"examples":[12345678901234567890,0.1000000000000000055511151231257827]}}},' +
      '"outputSchema":{"type":"object","properties":{"above":{"type":"integer","minimum":9007199254740993}},' +
      '"required":["above"],"x-weight":-0.0}}',
    run: () =>
      withText(
        '"structuredContent":{"above":9007199254740993,"below":-9007199254740993,' +
          '"long":1234567890123456789012345678901234567890,"precise":0.1000000000000000055511151231257827,' +
          '"point":1.0,"trailing":1.50,"zero":-0,"exponent":1E+2,"tiny":1e-400}',
      ),
  },
  escaped: {
    definition: raw`{"n\u0061me":"\u0065scaped","description":"\u0043af\u00e9 \ud83d\ude00 a\/b \u005bnot a server\u005d","inputSchema":{"type":"object","properties":{"\u0070":{"type":"string","pattern":"^\\w+\u0024"}}}}`,
    run: () =>
      raw`{"c\u006fntent":[{"type":"text","text":"\u006f\u0064\u0064 a\/b \ud83d lone \ude00 pair \ud83d\ude00 nul \u0000 del \u007f"}]}`,
  },
  spaced: {
    definition:
      '{ "name" : "spaced" ,\t"description" : "White space everywhere." , "inputSchema" : { "type" : "object" } }',
    run: (_args, ctx) => {
      ctx.server.write(
        `  { "result" : { "content" : [ ] ,\t"structuredContent" : { } } ,"jsonrpc" : "2.0" , "id" :\t${JSON.stringify(ctx.id)} }  \n`,
      );
      return NO_ANSWER;
    },
  },
  utf8: {
    definition:
      '{"name":"utf8","description":"Tschüß, 漢字 😀, said raw.","inputSchema":{"type":"object","title":"größe"}}',
    run: () => '{"content":[{"type":"text","text":"a\u2028b\u2029c\u0085d\u007fe\ufefff 漢字 😀"}]}',
  },
  content: {
    definition:
      '{"inputSchema":{"type":"object"},"description":"Content of types nobody knows.","name":"content"}',
    run: () =>
      '{"content":[{"type":"hologram","data":"aGk=","depth":3.0},{"type":"text","text":"t","annotations":{"priority":0.50,' +
      '"new":true},"extra":1},{"type":"resource","resource":{"uri":"odd://text","text":"t","mood":-0}},{"type":"image",' +
      '"data":"@@not base64@@","mimeType":"image/png"},{"type":"resource_link","uri":"odd://text","name":"n","size":1e1}]}',
  },
  deep: {
    definition: '{"name":"deep","description":"Nested 200 levels deep.","inputSchema":{"type":"object"}}',
    run: () =>
      withText(
        `"structuredContent":{"nested":${'[{"a":'.repeat(99)}${'[1.0]'}${'}]'.repeat(99)},"after":"here"}`,
      ),
  },
  large: {
    definition:
      '{"name":"large","description":"A result that comes in many chunks.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}}',
    run: ({ bytes = 300_000 }) =>
      `{"content":[{"type":"text","text":"${raw`\u00fc`.repeat(Math.ceil(bytes / 6))}"}],"n":1.0}`,
  },
  failed: {
    definition: '{"name":"failed","description":"A tool that failed.","inputSchema":{"type":"object"}}',
    run: () =>
      '{"isError":true,"content":[{"type":"text","text":"it did not work"}],"cause":{"code":7.0,"at":[1,2]}}',
  },
  refused: {
    definition:
      '{"name":"refused","description":"An error with data.","inputSchema":{"type":"object","properties":{"code":{"type":"integer"}}}}',
    run: ({ code }, ctx) => {
      ctx.server.write(
        `{"error":{"data":${ERROR_DATA[code] ?? 'null'},"code":${code},"x-hint":"later","message":"refused \\u0061s asked"},"id":${JSON.stringify(ctx.id)},"jsonrpc":"2.0"}\n`,
      );
      return NO_ANSWER;
    },
  },
  alike: {
    definition:
      '{"name":"alike","description":"Ids everywhere.","inputSchema":{"type":"object","properties":{"id":{"const":1}}},"id":1}',
    run: (_args, ctx) => {
      const text = raw`\"id\":1,\"result\":{}`;
      ctx.server.write(
        `{"result":{"id":1,"content":[{"type":"text","text":"${text}","id":"1"}],"error":{"id":1.0,"code":-32000},"result":{"id":null}},"jsonrpc":"2.0","id":${JSON.stringify(ctx.id)}}\n`,
      );
      return NO_ANSWER;
    },
  },
  wait_alike: {
    definition:
      '{"name":"wait_alike","description":"Waits for release.","inputSchema":{"type":"object","properties":{"tag":{"type":"string"}}}}',
    run: ({ tag }) =>
      new Promise((resolve) => {
        waiting.push(() => resolve(toJson(`released ${tag}`)));
      }),
  },
  release: {
    definition:
      '{"name":"release","description":"Lets those that wait go, the last one first.","inputSchema":{"type":"object"}}',
    run: () => {
      const all = waiting.splice(0).reverse();
      for (const go of all) go();
      return toJson(`released ${all.length}`);
    },
  },
  progress: {
    definition:
      '{"name":"progress","description":"Five reports in one write with the answer.","inputSchema":{"type":"object"}}',
    run: (_args, ctx) => {
      const token = JSON.stringify(ctx.progressToken);
      const report = (n) =>
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"x":[${n}.0],"progressToken":${token},"progress":${n}.0,"total":5.00,"message":"\\u0073tep ${n}"},"y":null}\n`;
      const reports = ctx.progressToken === undefined ? '' : [1, 2, 3, 4, 5].map(report).join('');
      ctx.server.write(`${reports}${ctx.responseText(withText('"reports":5.0'))}\n`);
      return NO_ANSWER;
    },
  },
  tell: {
    definition:
      '{"name":"tell","description":"Tells of things nobody asked about.","inputSchema":{"type":"object"}}',
    run: (_args, { server }) => {
      server.write(
        raw`{"jsonrpc":"2.0","method":"notifications/vendor.example/weather","params":{"t":21.50,"sky":"\u0062lue","id":1}}` +
          '\n{"method":"notifications/nothing","jsonrpc":"2.0"}\n',
      );
      return withText('"told":2');
    },
  },
  log: {
    definition:
      '{"name":"log","description":"Logs.","inputSchema":{"type":"object","properties":{"level":{"type":"string"}}}}',
    run: ({ level = 'warning' }, { server }) => {
      server.write(
        raw`{"params":{"data":{"n":9007199254740993,"t":"\u0061"},"logger":"odd\/logger","level":${JSON.stringify(level)},"_meta":{"k":-0}},"jsonrpc":"2.0","method":"notifications/message"}` +
          '\n',
      );
      return withText('"logged":1');
    },
  },
  touch: {
    definition:
      '{"name":"touch","description":"Says that odd://text was updated.","inputSchema":{"type":"object"}}',
    run: (_args, { server }) => {
      server.write(
        raw`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"odd:\/\/\u0074ext","revision":2.0}}` +
          '\n',
      );
      return withText('"touched":1');
    },
  },
  ask: {
    definition:
      '{"name":"ask","description":"Asks the client.","inputSchema":{"type":"object","properties":{"method":{"type":"string"}}}}',
    run: async ({ method }, { server }) => {
      const id = `odd-${++asked}`;
      const response = server.responseTo(id);
      server.write(
        `{"id":"${id}","params":${QUESTIONS[method] ?? '{}'},"method":${JSON.stringify(method)},"jsonrpc":"2.0"}\n`,
      );
      return toJson(withoutOwn((await response).json));
    },
  },
  as_received: {
    definition:
      '{"name":"as_received","description":"The text of its own request.","inputSchema":{"type":"object"}}',
    run: (_args, ctx) => toJson(withoutOwn(ctx.json)),
  },
  hang: {
    definition:
      '{"name":"hang","description":"Reports once and never answers.","inputSchema":{"type":"object"}}',
    run: (_args, ctx) => {
      ctx.progress({ progress: 1 });
      return new Promise(() => {});
    },
  },
  cancellations: {
    definition:
      '{"name":"cancellations","description":"Which running calls were cancelled, and why.","inputSchema":{"type":"object"}}',
    run: (_args, { server }) =>
      toJson(JSON.stringify(server.cancellations.map(({ reason, known }) => ({ reason, known })))),
  },
  last_notification: {
    definition:
      '{"name":"last_notification","description":"The text of the last notification of a method.","inputSchema":{"type":"object","properties":{"method":{"type":"string"}}}}',
    run: ({ method }) => toJson(withoutOwn(notifications.get(method) ?? 'none')),
  },
};

let asked = 0;

const ERROR_DATA = {
  [-32002]: raw`{"uri":"odd:\/\/gone","tries":[1.0,-0,9007199254740993]}`,
  [-32042]:
    '{"elicitations":[{"mode":"url","url":"https://example.org/","message":"Open it.","elicitationId":"e-1","x":1.0}]}',
  4711: '["own","code",{"deep":{"er":null}}]',
};

const QUESTIONS = {
  'elicitation/create':
    raw`{"message":"\u0059our name?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993,` +
    '"default":1.0},"name":{"type":"string","x-hint":-0}},"required":["name"]},"x-urgent":1e0}',
  'sampling/createMessage':
    '{"messages":[{"role":"user","content":{"type":"text","text":"Hello","x":1.0}}],"maxTokens":16.0,"temperature":0.50,' +
    '"metadata":{"big":9007199254740993},"x-thinking":true}',
  'roots/list': '{"_meta":{"vendor.example/why":-0}}',
};

const resources = {
  'odd://text': {
    definition: raw`{"uri":"odd:\/\/text","name":"\u0074ext","title":"Text","size":1.0,"annotations":{"priority":1.0,"mood":1},"icons":[],"x":{"name":"decoy","uri":"decoy"}}`,
    contents: raw`{"contents":[{"text":"t\u00e9xt","uri":"odd:\/\/text","mimeType":"text/plain","x":-0}],"_meta":{"n":9007199254740993},"x-more":1.0}`,
  },
  'odd://blob': {
    definition:
      '{"mimeType":"application/octet-stream","name":"blob","uri":"odd://blob","description":"Bytes.","_meta":{"a":1.50}}',
    contents: '{"contents":[{"uri":"odd://blob","blob":"AAEC/w==","mimeType":"application/octet-stream"}]}',
  },
};

const template = raw`{"name":"it\u0065m","uriTemplate":"odd:\/\/item\/{id}","description":"An item.","x-max":1.0,"_meta":{}}`;

const prompts = {
  plain: {
    definition:
      '{"name":"plain","title":"Plain","description":"A prompt without arguments.","x":1.0,"icons":[{"src":"data:,"}]}',
    get: () =>
      '{"description":"Pl\\u0061in.","messages":[{"role":"user","content":{"type":"text","text":"Do it.","x":-0}}],"x":1.0}',
  },
  embedded: {
    definition:
      '{"name":"embedded","arguments":[{"name":"topic","required":true,"x":1e0,"description":"What about."}],"description":"With a resource."}',
    get: ({ topic = '' }) =>
      `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"odd://text","mimeType":"text/plain","text":${JSON.stringify(topic)},"x":1.0}}},` +
      '{"role":"assistant","content":{"type":"resource","resource":{"uri":"odd://blob","blob":"AAEC/w=="}}}],"_meta":{"n":-0}}',
  },
};

/** An answer from text: a result, or with `code` an error. */
const say = (ctx, json) => {
  ctx.server.write(`${ctx.responseText(json)}\n`);
  return NO_ANSWER;
};
const refuse = (ctx, code, message, data) => {
  ctx.server.write(
    `{"jsonrpc":"2.0","id":${JSON.stringify(ctx.id)},"error":{"code":${code},"message":${JSON.stringify(message)},"data":${data}}}\n`,
  );
  return NO_ANSWER;
};
const listOf = (things) =>
  Object.values(things)
    .map(({ definition }) => definition)
    .join(',');

serve({
  name: 'odd-fields',
  methods: {
    initialize: (params, ctx, standard) => {
      const { protocolVersion } = standard(params, ctx);
      return say(ctx, initializeResult(protocolVersion));
    },
    'tools/list': (_params, ctx) =>
      say(ctx, `{"ttl":5.0,"tools":[${listOf(tools)}],"_meta":{"vendor.example/list":1}}`),
    'tools/call': async (params, ctx) => {
      const tool = Object.hasOwn(tools, params?.name) ? tools[params.name] : undefined;
      if (tool === undefined) return refuse(ctx, -32602, `Unknown tool: ${params?.name}`, '{"x":1.0}');
      const result = await tool.run(params.arguments ?? {}, ctx);
      return result === NO_ANSWER || ctx.signal.aborted ? NO_ANSWER : say(ctx, result);
    },
    'resources/list': (_params, ctx) => say(ctx, `{"resources":[${listOf(resources)}],"x":1.0}`),
    'resources/templates/list': (_params, ctx) => say(ctx, `{"x":1.0,"resourceTemplates":[${template}]}`),
    'resources/read': ({ uri }, ctx) => {
      if (Object.hasOwn(resources, uri)) return say(ctx, resources[uri].contents);
      const item = /^odd:\/\/item\/(\w+)$/.exec(uri)?.[1];
      if (item !== undefined && item !== 'none') {
        return say(ctx, `{"contents":[{"uri":${JSON.stringify(uri)},"text":"item ${item}","x":1.0}]}`);
      }
      return refuse(ctx, -32002, 'Resource not found', `{"uri":${JSON.stringify(uri)},"n":1.0}`);
    },
    'resources/subscribe': () => ({}),
    'resources/unsubscribe': () => ({}),
    'prompts/list': (_params, ctx) => say(ctx, `{"prompts":[${listOf(prompts)}]}`),
    'prompts/get': ({ name, arguments: args = {} }, ctx) => {
      if (!Object.hasOwn(prompts, name)) return refuse(ctx, -32602, `Unknown prompt: ${name}`, 'null');
      if (name === 'embedded' && args.topic === undefined) {
        return refuse(ctx, -32602, 'topic is missing', '{"missing":["topic"],"n":-0}');
      }
      return say(ctx, prompts[name].get(args));
    },
    'completion/complete': ({ ref, argument }, ctx) => {
      const of = ref.name ?? ref.uri;
      if (of !== 'odd://item/{id}' && !Object.hasOwn(prompts, of)) {
        return refuse(ctx, -32602, `Unknown reference: ${of}`, '[]');
      }
      return say(
        ctx,
        `{"completion":{"values":[${JSON.stringify(argument.value + of)},"\\u0062"],"total":1e2,"hasMore":true,"x":-0},"x":1.0}`,
      );
    },
    'logging/setLevel': () => ({}),
  },
  onNotification: ({ method, json }) => notifications.set(method, json),
});
