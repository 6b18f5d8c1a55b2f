import { npmServer } from '../../helpers/temp-project.ts';
import type { Step, Traffic } from '../../helpers/traffic.ts';

const call = (title: string, name: string, args: object = {}, more: Partial<Step> = {}): Step => ({
  title,
  method: 'tools/call',
  params: { name, arguments: args },
  ...more,
});

export const UNKNOWN_METHOD = 'nobody/knows';
const DOCUMENT = 'demo://resource/static/document/features.md';
const SESSION = 'demo://resource/session/hello.gz';
const dataUri = 'data:text/plain;base64,aGVsbG8gaGVsbG8gaGVsbG8=';

const accepted =
  '"result":{"action":"accept","content":{"name":"Ada","check":true,"integer":42,"number":3.0,"email":"ada@example.org"},"x":1.0}';
const sampled =
  '"result":{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m-1","stopReason":"endTurn"}';
const task = (id: string) =>
  `"result":{"task":{"taskId":"${id}","status":"completed","ttl":null,"createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z"}}`;
const twoRoots =
  '"result":{"roots":[{"uri":"file:///one","name":"One"},{"uri":"file:///two","x":1.0}],"_meta":{"n":1.0}}';

const tools: Step[] = [
  { title: 'tools/list', method: 'tools/list' },
  { title: 'tools/list with empty params', method: 'tools/list', params: {} },
  call('echo', 'echo', { message: 'hello' }),
  call('echo of odd text', 'echo', { message: 'Tschüß 😀 \u2028 \u0000 "\\/' }),
  call('echo with the wrong type', 'echo', { message: 7 }),
  call('echo without arguments', 'echo'),
  call('get-sum', 'get-sum', { a: 0.1, b: 0.2 }),
  {
    title: 'get-sum of number texts',
    method: 'tools/call',
    params: '{"arguments":{"b":-0,"a":1.0},"name":"get-sum"}',
  },
  call('get-annotated-message', 'get-annotated-message', { messageType: 'error', includeImage: true }),
  call('get-annotated-message of a kind there is not', 'get-annotated-message', { messageType: 'loud' }),
  call('get-env', 'get-env'),
  call('get-resource-links', 'get-resource-links', { count: 4 }),
  call('get-resource-reference to a text', 'get-resource-reference', { resourceType: 'Text', resourceId: 3 }),
  call('get-resource-reference to a blob', 'get-resource-reference', { resourceType: 'Blob', resourceId: 2 }),
  call('get-resource-reference to nothing', 'get-resource-reference', {
    resourceType: 'Text',
    resourceId: -1,
  }),
  call('get-structured-content', 'get-structured-content', { location: 'Chicago' }),
  call('get-structured-content of a place there is not', 'get-structured-content', { location: 'Bonn' }),
  call('get-tiny-image', 'get-tiny-image'),
  call('an unknown tool', 'no-such-tool', {}, { unknown: 'no-such-tool' }),
  {
    title: 'trigger-long-running-operation with progress',
    method: 'tools/call',
    params: {
      name: 'trigger-long-running-operation',
      arguments: { duration: 0.6, steps: 3 },
      _meta: { progressToken: 'long' },
    },
  },
  call('trigger-long-running-operation without progress', 'trigger-long-running-operation', {
    duration: 0.05,
    steps: 1,
  }),
  {
    title: 'a cancelled trigger-long-running-operation',
    method: 'tools/call',
    params: {
      name: 'trigger-long-running-operation',
      arguments: { duration: 3600, steps: 7200 },
      _meta: { progressToken: 7 },
    },
    cancel: { on: 'notifications/progress', reason: 'no longer wanted' },
  },
  call('echo after the cancellation', 'echo', { message: 'still here' }),
];

const resources: Step[] = [
  { title: 'resources/list', method: 'resources/list' },
  { title: 'resources/templates/list', method: 'resources/templates/list' },
  { title: 'a document', method: 'resources/read', params: { uri: DOCUMENT } },
  {
    title: 'a text from a template',
    method: 'resources/read',
    params: { uri: 'demo://resource/dynamic/text/12' },
  },
  {
    title: 'a blob from a template',
    method: 'resources/read',
    params: { uri: 'demo://resource/dynamic/blob/12' },
  },
  {
    title: 'a template filled with nonsense',
    method: 'resources/read',
    params: { uri: 'demo://resource/dynamic/text/none' },
  },
  {
    title: 'an unknown resource',
    method: 'resources/read',
    params: { uri: 'demo://nowhere/at/all' },
    unknown: 'demo://nowhere/at/all',
  },
  call(
    'gzip-file-as-resource, as a link',
    'gzip-file-as-resource',
    { name: 'hello.gz', data: dataUri, outputType: 'resourceLink' },
    { hears: ['notifications/resources/list_changed'] },
  ),
  { title: 'the new resource', method: 'resources/read', params: { uri: SESSION } },
  { title: 'resources/list with the new resource', method: 'resources/list' },
  call(
    'gzip-file-as-resource, as a resource',
    'gzip-file-as-resource',
    { name: 'other.gz', data: dataUri, outputType: 'resource' },
    { hears: ['notifications/resources/list_changed'] },
  ),
  call('gzip-file-as-resource of no URL', 'gzip-file-as-resource', {
    name: 'x.gz',
    data: 'ftp://example.org/',
  }),
  {
    title: 'subscribe to a document',
    method: 'resources/subscribe',
    params: { uri: DOCUMENT },
    hears: ['notifications/message'],
  },
  call(
    'toggle-subscriber-updates on',
    'toggle-subscriber-updates',
    {},
    { hears: ['notifications/resources/updated'] },
  ),
  call('toggle-subscriber-updates off', 'toggle-subscriber-updates'),
  {
    title: 'unsubscribe',
    method: 'resources/unsubscribe',
    params: { uri: DOCUMENT },
    hears: ['notifications/message'],
  },
];

const prompts: Step[] = [
  { title: 'prompts/list', method: 'prompts/list' },
  { title: 'a prompt', method: 'prompts/get', params: { name: 'simple-prompt' } },
  {
    title: 'a prompt with arguments',
    method: 'prompts/get',
    params: { name: 'args-prompt', arguments: { city: 'Köln', state: 'NRW' } },
  },
  {
    title: 'a prompt without its arguments',
    method: 'prompts/get',
    params: { name: 'args-prompt', arguments: {} },
  },
  {
    title: 'a prompt with a resource',
    method: 'prompts/get',
    params: { name: 'resource-prompt', arguments: { resourceType: 'Blob', resourceId: '5' } },
  },
  {
    title: 'a prompt with an impossible resource',
    method: 'prompts/get',
    params: { name: 'resource-prompt', arguments: { resourceType: 'Stone', resourceId: '5' } },
  },
  {
    title: 'an unknown prompt',
    method: 'prompts/get',
    params: { name: 'no-such-prompt' },
    unknown: 'no-such-prompt',
  },
  {
    title: 'completion of a prompt argument',
    method: 'completion/complete',
    params: {
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'department', value: 'S' },
    },
  },
  {
    title: 'completion with context',
    method: 'completion/complete',
    params: {
      ref: { type: 'ref/prompt', name: 'completable-prompt' },
      argument: { name: 'name', value: '' },
      context: { arguments: { department: 'Support' } },
    },
  },
  {
    title: 'completion of an argument that has none',
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'args-prompt' }, argument: { name: 'city', value: 'K' } },
  },
  {
    title: 'completion of a template',
    method: 'completion/complete',
    params: {
      ref: { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' },
      argument: { name: 'resourceId', value: '42' },
    },
  },
  {
    title: 'completion of an unknown prompt',
    method: 'completion/complete',
    params: { ref: { type: 'ref/prompt', name: 'no-such-prompt' }, argument: { name: 'x', value: '' } },
    unknown: 'no-such-prompt',
  },
];

const questions: Step[] = [
  call(
    'elicitation accepted',
    'trigger-elicitation-request',
    {},
    { replies: { 'elicitation/create': [accepted] } },
  ),
  call(
    'elicitation declined',
    'trigger-elicitation-request',
    {},
    { replies: { 'elicitation/create': ['"result":{"action":"decline"}'] } },
  ),
  call(
    'elicitation failed',
    'trigger-elicitation-request',
    {},
    { replies: { 'elicitation/create': ['"error":{"code":4711,"message":"no window","data":{"n":1.0}}'] } },
  ),
  call('elicitation by URL', 'trigger-url-elicitation', {
    url: 'https://example.org/in',
    elicitationId: 'e-1',
  }),
  call('elicitation by URL, as an error', 'trigger-url-elicitation', {
    url: 'https://example.org/error',
    elicitationId: 'e-2',
    errorPath: true,
  }),
  call('sampling', 'trigger-sampling-request', { prompt: 'say something', maxTokens: 7 }),
  call(
    'sampling refused',
    'trigger-sampling-request',
    { prompt: 'x' },
    {
      replies: {
        'sampling/createMessage': ['"error":{"code":-1,"message":"User rejected sampling request"}'],
      },
    },
  ),
  call('roots', 'get-roots-list'),
  {
    title: 'roots changed',
    method: 'notifications/roots/list_changed',
    notification: true,
    replies: { 'roots/list': [twoRoots] },
    hears: ['roots/list', 'notifications/message'],
  },
  call('roots after the change', 'get-roots-list'),
];

const tasks: Step[] = [
  call('a task tool called as a plain one', 'simulate-research-query', { topic: 'x' }),
  {
    title: 'a task',
    method: 'tools/call',
    params: {
      name: 'simulate-research-query',
      arguments: { topic: 'python', ambiguous: true },
      task: { ttl: 60_000 },
    },
    keep: { task: ['result', 'task', 'taskId'] },
  },
  {
    title: 'the result of the task, which asks on its way',
    method: 'tasks/result',
    params: '{"taskId":"$task"}',
    replies: { 'elicitation/create': ['"result":{"action":"accept","content":{"interpretation":"snake"}}'] },
  },
  { title: 'the state of the task', method: 'tasks/get', params: '{"taskId":"$task"}' },
  {
    title: 'another task',
    method: 'tools/call',
    params: { name: 'simulate-research-query', arguments: { topic: 'tea' }, task: {} },
    keep: { other: ['result', 'task', 'taskId'] },
  },
  { title: 'the other task cancelled', method: 'tasks/cancel', params: '{"taskId":"$other"}' },
  call(
    'sampling as a task of the client',
    'trigger-sampling-request-async',
    { prompt: 'later' },
    {
      replies: { 'sampling/createMessage': [task('client-1')], 'tasks/result': [sampled] },
    },
  ),
  call(
    'elicitation as a task of the client, done at once',
    'trigger-elicitation-request-async',
    {},
    {
      replies: { 'elicitation/create': [accepted] },
    },
  ),
];

const logging: Step[] = [
  { title: 'logging/setLevel', method: 'logging/setLevel', params: { level: 'debug' } },
  call('toggle-simulated-logging on', 'toggle-simulated-logging', {}, { hears: ['notifications/message'] }),
  call('toggle-simulated-logging off', 'toggle-simulated-logging'),
  { title: 'ping', method: 'ping' },
  { title: 'an unknown method', method: 'nobody/knows' },
];

export const everything: Traffic = {
  server: 'everything',
  start: () => npmServer('everything'),
  version: '2025-11-25',
  capabilities: {
    roots: { listChanged: true },
    sampling: {},
    elicitation: { form: {}, url: {} },
    tasks: {
      list: {},
      cancel: {},
      requests: { sampling: { createMessage: {} }, elicitation: { create: {} } },
    },
  },
  replies: {
    'roots/list': '"result":{"roots":[{"uri":"file:///first","name":"First"}]}',
    'elicitation/create': '"result":{"action":"accept"}',
    'sampling/createMessage': sampled,
    'tasks/result': sampled,
  },
  blurs: [
    {
      name: 'clock',
      why: 'dynamic resources tell the time they were made at',
      find: /created at [\d:]+ [AP]M/g,
      as: () => 'created at <clock>',
    },
    {
      name: 'clock in a blob',
      why: 'the same in base64',
      find: /UmVzb3VyY2Ug[A-Za-z0-9+/=]+/g,
      as: (found) => `<${Buffer.from(found, 'base64').toString().replace(/at .*/, 'at <clock>')}>`,
    },
    { name: 'uuid', why: 'elicitations get random ids', find: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g },
    { name: 'task', why: 'tasks get random ids', find: /\b[0-9a-f]{32}\b/g },
    {
      name: 'time',
      why: 'tasks tell when they were made and changed',
      find: /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
      as: (found) => (found.startsWith('2026-01-01') ? found : '<time>'),
    },
    {
      name: 'environment',
      why: 'get-env shows the environment, which is that of another process and its parents',
      find: /"text":"\{\\n {2}\\".*?\\n\}"/g,
      as: () => '"text":"<environment>"',
    },
    {
      name: 'random log message',
      why: 'simulated logging chooses level and text at random',
      find: /"level":"\w+","data":"\w+[- ]level[- ]message"/g,
      as: () => '"level":"<random>","data":"<random>"',
    },
  ],
  timed: [/<random>/, /notifications\/resources\/updated/],
  steps: [
    {
      title: 'initialize',
      method: 'initialize',
      // The server asks for the roots 350 ms after the handshake, and logs that it has them.
      hears: ['roots/list', 'notifications/message'],
    },
    ...tools,
    ...resources,
    ...prompts,
    ...questions,
    ...tasks,
    ...logging,
  ],
};
