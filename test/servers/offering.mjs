/**
 * Offers tools, resources, resource templates and prompts of any name; each answers with its own name and that of this
 * server, so that one can tell who answered.
 *
 *   node test/servers/offering.mjs [--name=offering] [--tools=a,b] [--resources=uri,uri] [--templates=x://{id},…]
 *       [--prompts=x,y] [--quiet] [--parts] [--refuse-subscribe=uri,…] [--ignore-subscribe=uri,…] [--touch-subscribed]
 *       [--shrinks=file] [--tools-file=file]
 *
 * What is offered under a name answers:
 *   tool a: "<server> ran a with {…}"; resource u: "<server> has u"; a URI that fits a template: "<server> made u";
 *   prompt x: "<server> says x with {…}"; completion: ["<server> completes <prompt or template> <argument>=<value>"]
 * Unknown ones are refused: tools and prompts with −32602, resources with −32002. And always (not with `--quiet`, which
 * leaves only what the flags name, and these can still be called):
 *   touch {uri}              notifications/resources/updated, subscribed or not
 *   add {kind, names}        kind tool | resource | template | prompt; one list_changed for each name, in one write
 *   remove {kind, names}     likewise
 *   redescribe {text}        another description for every tool, and one list_changed
 *   relist_storm {n, kind}   n list_changed and no change
 *   state                    {"lists": {method: times}, "subscribed": [uri], "pid"}
 *   slow {ms}                answers "<server> slept" later
 *   link {uri}               a link to a resource that no list has; it can be read like one that is listed
 * `--parts`: what is read has a part below it, <uri>/part. `--refuse-subscribe`, `--ignore-subscribe`: these are refused,
 * those never answered. `--touch-subscribed`: whoever subscribes is told at once of an update. `--shrinks`: the first life
 * makes the file; those after it have only tools. `--tools-file`: further tools, by name, one on each line of the file as it
 * is at the start.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { NO_ANSWER, RpcError, flag, serve, setting, sleep, takes, text } from './lib/server.mjs';

const name = setting('name', 'offering');
const listOf = (flagName) => setting(flagName, '').split(',').filter(Boolean);
const json = (value) => JSON.stringify(value ?? {});

const toolsFile = setting('tools-file');
const fromFile = toolsFile === undefined ? [] : readFileSync(toolsFile, 'utf8').split('\n').filter(Boolean);

const offered = {
  tool: new Set([...listOf('tools'), ...fromFile]),
  resource: new Set(listOf('resources')),
  template: new Set(listOf('templates')),
  prompt: new Set(listOf('prompts')),
};
const CHANGED = {
  tool: 'notifications/tools/list_changed',
  resource: 'notifications/resources/list_changed',
  template: 'notifications/resources/list_changed',
  prompt: 'notifications/prompts/list_changed',
};
const subscribed = new Set();
const linked = new Set();
const memento = setting('shrinks');
const shrunk = memento !== undefined && existsSync(memento);
if (memento !== undefined) writeFileSync(memento, '');
const lists = {};
let about = 'A tool';

const counted = (method, make) => () => {
  lists[method] = (lists[method] ?? 0) + 1;
  return make();
};

/** Whether the URI is the template with something in the place of each {…}. */
function fits(template, uri) {
  const pattern = template
    .split(/\{[^}]*\}/)
    .map((part) => part.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('([^/]+)');
  return new RegExp(`^${pattern}$`).test(uri);
}

/** One write for all, as a server does that changes much at once. */
function sayChanged(server, kind, times) {
  const line = `${JSON.stringify({ jsonrpc: '2.0', method: CHANGED[kind] })}\n`;
  server.write(line.repeat(times));
}

const change = (how) => ({
  description: `Changes what is offered: ${how}.`,
  inputSchema: takes({ kind: 'string', names: 'array' }, ['kind', 'names']),
  run: ({ kind, names }, { server }) => {
    for (const one of names) offered[kind][how](one);
    sayChanged(server, kind, names.length);
    return `${how} ${names.length}`;
  },
});

const controls = {
  touch: {
    description: 'Says that a resource was updated.',
    inputSchema: takes({ uri: 'string' }, ['uri']),
    run: ({ uri }, { server }) => {
      server.notify('notifications/resources/updated', { uri });
      return `touched ${uri}`;
    },
  },
  add: change('add'),
  remove: change('delete'),
  redescribe: {
    description: 'Describes every tool anew.',
    inputSchema: takes({ text: 'string' }, ['text']),
    run: ({ text: said }, { server }) => {
      about = said;
      sayChanged(server, 'tool', 1);
      return 'described';
    },
  },
  relist_storm: {
    description: 'Says again and again that a list has changed, which it has not.',
    inputSchema: takes({ n: 'integer', kind: 'string' }),
    run: ({ n = 100, kind = 'tool' }, { server }) => {
      sayChanged(server, kind, n);
      return `stormed ${n}`;
    },
  },
  state: {
    description: 'How often it was listed, and what is subscribed.',
    run: () => text({ lists, subscribed: [...subscribed], pid: process.pid }),
  },
  link: {
    description: 'Links to a resource that no list has.',
    inputSchema: takes({ uri: 'string' }, ['uri']),
    run: ({ uri }) => {
      linked.add(uri);
      return { content: [{ type: 'resource_link', uri, name: `link of ${name}` }] };
    },
  },
  slow: {
    description: 'Answers later.',
    inputSchema: takes({ ms: 'number' }),
    run: async ({ ms = 100 }) => {
      await sleep(ms);
      return `${name} slept`;
    },
  },
};

serve({
  name: 'offering',
  capabilities: {
    tools: { listChanged: true },
    ...(shrunk
      ? {}
      : {
          resources: { listChanged: true, subscribe: true },
          prompts: { listChanged: true },
          completions: {},
        }),
  },
  methods: {
    'tools/list': counted('tools/list', () => ({
      tools: [
        ...[...offered.tool].map((tool) => ({
          name: tool,
          description: `${about} of ${name}.`,
          inputSchema: { type: 'object' },
        })),
        ...(flag('quiet') ? [] : Object.entries(controls)).map(([tool, { description, inputSchema }]) => ({
          name: tool,
          description,
          inputSchema: inputSchema ?? { type: 'object' },
        })),
      ],
    })),
    'tools/call': async ({ name: tool, arguments: args = {} }, ctx) => {
      if (offered.tool.has(tool)) return text(`${name} ran ${tool} with ${json(args)}`);
      if (!Object.hasOwn(controls, tool)) throw new RpcError(-32602, `Unknown tool: ${tool}`);
      const result = await controls[tool].run(args, ctx);
      return typeof result === 'string' ? text(result) : result;
    },
    'resources/list': counted('resources/list', () => ({
      resources: [...offered.resource].map((uri) => ({ uri, name: `${uri.split('/').at(-1)} of ${name}` })),
    })),
    'resources/templates/list': counted('resources/templates/list', () => ({
      resourceTemplates: [...offered.template].map((uriTemplate) => ({
        uriTemplate,
        name: `template of ${name}`,
      })),
    })),
    'resources/read': ({ uri }) => {
      const parts = flag('parts') ? [{ uri: `${uri}/part`, text: `a part of ${uri}` }] : [];
      if (offered.resource.has(uri) || linked.has(uri)) {
        return { contents: [{ uri, text: `${name} has ${uri}` }, ...parts] };
      }
      if ([...offered.template].some((template) => fits(template, uri))) {
        return { contents: [{ uri, text: `${name} made ${uri}` }, ...parts] };
      }
      throw new RpcError(-32002, `Resource not found: ${uri}`, { uri });
    },
    'resources/subscribe': ({ uri }, { server }) => {
      if (listOf('refuse-subscribe').includes(uri)) throw new RpcError(-32603, `Not to be watched: ${uri}`);
      if (listOf('ignore-subscribe').includes(uri)) return NO_ANSWER;
      subscribed.add(uri);
      if (flag('touch-subscribed')) server.notify('notifications/resources/updated', { uri });
      return {};
    },
    'resources/unsubscribe': ({ uri }) => {
      subscribed.delete(uri);
      return {};
    },
    'prompts/list': counted('prompts/list', () => ({
      prompts: [...offered.prompt].map((prompt) => ({
        name: prompt,
        description: `A prompt of ${name}.`,
        arguments: [{ name: 'topic' }],
      })),
    })),
    'prompts/get': ({ name: prompt, arguments: args }) => {
      if (!offered.prompt.has(prompt)) throw new RpcError(-32602, `Unknown prompt: ${prompt}`);
      const said = `${name} says ${prompt} with ${json(args)}`;
      return { messages: [{ role: 'user', content: { type: 'text', text: said } }] };
    },
    'completion/complete': ({ ref, argument }) => ({
      completion: {
        values: [`${name} completes ${ref.name ?? ref.uri} ${argument.name}=${argument.value}`],
      },
    }),
  },
});
