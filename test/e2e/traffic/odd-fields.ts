import { nodeServer } from '../../helpers/temp-project.ts';
import type { Step, Traffic } from '../../helpers/traffic.ts';

const call = (title: string, name: string, args = '{}', more: Partial<Step> = {}): Step => ({
  title,
  method: 'tools/call',
  params: `{"name":${JSON.stringify(name)},"arguments":${args}}`,
  ...more,
});

const answers: Step[] = [
  { title: 'tools/list', method: 'tools/list' },
  ...['members', 'numbers', 'escaped', 'spaced', 'utf8', 'content', 'deep', 'failed', 'alike'].map((name) =>
    call(name, name),
  ),
  call('a result of many chunks', 'large'),
  call('a result of two megabytes', 'large', '{"bytes":2000000}'),
  ...[-32002, -32042, 4711].map((code) => call(`error ${code}`, 'refused', `{"code":${code}}`)),
  call('an unknown tool', 'no_such_tool', '{}', { unknown: 'no_such_tool' }),
  {
    ...call('ids that look alike, all at once', 'wait_alike', '{"tag":"number"}'),
    id: 1000,
    with: [
      { ...call('', 'wait_alike', '{"tag":"string"}'), id: '1000' },
      { ...call('', 'wait_alike', '{"tag":"spaced string"}'), id: ' 1000' },
      { ...call('', 'wait_alike', '{"tag":"negative"}'), id: -1000 },
      { ...call('', 'wait_alike', '{"tag":"member"}'), id: 'constructor' },
      { ...call('', 'release'), id: '"' },
    ],
  },
];

const requests: Step[] = [
  {
    title: 'what reaches the server',
    method: 'tools/call',
    params:
      '{"future":{"a":[1.0,-0]},"arguments":{"big":9007199254740993,"text":"\\u0061\\/b \\ud83d","zero":-0,"e":1E+2,"id":1},"_meta":{"vendor.example/x":1.50},"name":"as_received"}',
  },
  {
    title: 'what reaches the server, spaced',
    method: 'tools/call',
    params: '{ "arguments" : { "a" : [ ] } ,\t"name" : "as_received" }',
  },
  {
    title: 'what reaches the server, with a progress token',
    method: 'tools/call',
    params: '{"_meta":{"a":1.0,"progressToken":"tok\\u0065n","b":2.0},"name":"as_received","arguments":{}}',
  },
  {
    title: 'a name with escapes',
    method: 'tools/call',
    params: '{"name":"\\u0065scaped"}',
  },
];

const notices: Step[] = [
  {
    title: 'five reports in one write with the answer',
    method: 'tools/call',
    params: '{"name":"progress","_meta":{"progressToken":"five"}}',
  },
  {
    title: 'the same with a number as token',
    method: 'tools/call',
    params: '{"name":"progress","_meta":{"progressToken":5}}',
  },
  call('reports that nobody asked for', 'progress'),
  call('notifications of unknown methods', 'tell', '{}', {
    hears: ['notifications/vendor.example/weather', 'notifications/nothing'],
  }),
  { title: 'logging/setLevel', method: 'logging/setLevel', params: { level: 'debug' } },
  call('a log message', 'log', '{"level":"warning"}', { hears: ['notifications/message'] }),
  call('another log message', 'log', '{"level":"debug"}', { hears: ['notifications/message'] }),
  {
    title: 'a call that is cancelled',
    method: 'tools/call',
    params: '{"name":"hang","arguments":{},"_meta":{"progressToken":"hang"}}',
    cancel: { on: 'notifications/progress', reason: 'Tschüß, no longer wanted' },
  },
  call('what the server was told of the cancellation', 'cancellations'),
];

const offers: Step[] = [
  { title: 'resources/list', method: 'resources/list' },
  { title: 'resources/templates/list', method: 'resources/templates/list' },
  { title: 'a text resource', method: 'resources/read', params: '{"uri":"odd://text","x":1.0}' },
  { title: 'a text resource, escaped', method: 'resources/read', params: '{"uri":"odd:\\/\\/t\\u0065xt"}' },
  { title: 'a blob resource', method: 'resources/read', params: '{"uri":"odd://blob"}' },
  { title: 'a resource from the template', method: 'resources/read', params: '{"uri":"odd://item/7"}' },
  {
    title: 'a resource the template covers and the server lacks',
    method: 'resources/read',
    params: '{"uri":"odd://item/none"}',
  },
  {
    title: 'an unknown resource',
    method: 'resources/read',
    params: '{"uri":"strange://thing"}',
    unknown: 'strange://thing',
  },
  { title: 'subscribe', method: 'resources/subscribe', params: '{"uri":"odd://text"}' },
  call('an update', 'touch', '{}', { hears: ['notifications/resources/updated'] }),
  { title: 'unsubscribe', method: 'resources/unsubscribe', params: '{"uri":"odd://text"}' },
  { title: 'prompts/list', method: 'prompts/list' },
  { title: 'a prompt', method: 'prompts/get', params: '{"name":"plain"}' },
  {
    title: 'a prompt with resources in it',
    method: 'prompts/get',
    params: '{"arguments":{"topic":"\\u0074opic"},"name":"embedded","x":-0}',
  },
  { title: 'a prompt that lacks its argument', method: 'prompts/get', params: '{"name":"embedded"}' },
  { title: 'an unknown prompt', method: 'prompts/get', params: '{"name":"none"}', unknown: 'none' },
  {
    title: 'completion of a prompt',
    method: 'completion/complete',
    params:
      '{"ref":{"type":"ref/prompt","name":"embedded"},"argument":{"name":"topic","value":"t"},"context":{"arguments":{}},"x":1.0}',
  },
  {
    title: 'completion of a template',
    method: 'completion/complete',
    params: '{"argument":{"name":"id","value":"7"},"ref":{"uri":"odd://item/{id}","type":"ref/resource"}}',
  },
  {
    title: 'completion of an unknown template',
    method: 'completion/complete',
    params: '{"argument":{"name":"id","value":"7"},"ref":{"uri":"odd://none/{id}","type":"ref/resource"}}',
    unknown: 'odd://none/{id}',
  },
];

const odd = '"x":[1.0,-0,9007199254740993],"t":"\\u0061\\/b"';

const questions: Step[] = [
  call('elicitation', 'ask', '{"method":"elicitation/create"}', {
    replies: { 'elicitation/create': [`"result":{"action":"accept","content":{"name":"A","n":1.0},${odd}}`] },
  }),
  call('elicitation that fails', 'ask', '{"method":"elicitation/create"}', {
    replies: { 'elicitation/create': [`"error":{"code":4711,"message":"no","data":{${odd}},"y":1.0}`] },
  }),
  call('sampling', 'ask', '{"method":"sampling/createMessage"}', {
    replies: {
      'sampling/createMessage': [
        `"result":{"role":"assistant","model":"m","content":{"type":"text","text":"hi"},${odd}}`,
      ],
    },
  }),
  call('roots', 'ask', '{"method":"roots/list"}', {
    replies: { 'roots/list': [`"result":{"roots":[{"uri":"file:\\/\\/\\/x","y":1.0}],${odd}}`] },
  }),
  {
    title: 'roots changed',
    method: 'notifications/roots/list_changed',
    notification: true,
    params: `{"_meta":{${odd}}}`,
  },
  call(
    'what the server was told of the roots',
    'last_notification',
    '{"method":"notifications/roots/list_changed"}',
  ),
  { title: 'ping', method: 'ping' },
];

export const oddFields: Traffic = {
  server: 'odd-fields',
  start: () => nodeServer('odd-fields'),
  version: '2025-11-25',
  capabilities: {
    roots: { listChanged: true },
    sampling: { context: {} },
    elicitation: { form: {}, url: {} },
    telepathy: { x: 1 },
  },
  replies: {},
  blurs: [],
  steps: [
    { title: 'initialize', method: 'initialize' },
    ...answers,
    ...requests,
    ...notices,
    ...offers,
    ...questions,
  ],
};
