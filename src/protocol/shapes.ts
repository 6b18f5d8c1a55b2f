import { defineShape, Envelope, ENVELOPE } from '../wire/index.ts';
import { LIST_KINDS, type ListKind } from './list-kinds.ts';
import { Meta } from './modern.ts';

/**
 * The members read of every message from a client: those for routing, and those that are rewritten. Rare members
 * (cursors, versions, reasons) are parsed when needed. The members of suite calls and compound calls are found in the
 * same pass as everything else, because a second pass over the arguments costs as much as the first.
 */
export const CLIENT_SHAPE = defineShape(
  {
    ...ENVELOPE,
    params: {
      name: true,
      arguments: { action: true, subtool: true, args: true, server: true, tool: true },
      _meta: { progressToken: true },
    },
  },
  {
    params: {
      uri: true,
      requestId: true,
      taskId: true,
      progressToken: true,
      ref: { type: true, name: true, uri: true },
      requestState: true,
      inputResponses: true,
      _meta: {
        [Meta.protocolVersion]: true,
        [Meta.clientInfo]: true,
        [Meta.clientCapabilities]: true,
        [Meta.logLevel]: true,
      },
    },
  },
  // Each request of a modern client describes the client and its capabilities.
  ['params._meta'],
);

export const Client = {
  id: Envelope.id,
  method: Envelope.method,
  params: Envelope.params,
  error: Envelope.error,
  name: CLIENT_SHAPE.slot('params.name'),
  arguments: CLIENT_SHAPE.slot('params.arguments'),
  action: CLIENT_SHAPE.slot('params.arguments.action'),
  subtool: CLIENT_SHAPE.slot('params.arguments.subtool'),
  args: CLIENT_SHAPE.slot('params.arguments.args'),
  server: CLIENT_SHAPE.slot('params.arguments.server'),
  tool: CLIENT_SHAPE.slot('params.arguments.tool'),
  /** The token with which the client requests progress. */
  progressToken: CLIENT_SHAPE.slot('params._meta.progressToken'),
  uri: CLIENT_SHAPE.slot('params.uri'),
  requestId: CLIENT_SHAPE.slot('params.requestId'),
  taskId: CLIENT_SHAPE.slot('params.taskId'),
  /** The token of progress reported by the client. */
  reportToken: CLIENT_SHAPE.slot('params.progressToken'),
  refType: CLIENT_SHAPE.slot('params.ref.type'),
  refName: CLIENT_SHAPE.slot('params.ref.name'),
  refUri: CLIENT_SHAPE.slot('params.ref.uri'),
  /** The opaque `requestState` that a modern client returns unchanged. */
  requestState: CLIENT_SHAPE.slot('params.requestState'),
  /** The requested input, by the keys of the requests. */
  inputResponses: CLIENT_SHAPE.slot('params.inputResponses'),
  meta: CLIENT_SHAPE.slot('params._meta'),
  version: CLIENT_SHAPE.slot(`params._meta.${Meta.protocolVersion}`),
  clientInfo: CLIENT_SHAPE.slot(`params._meta.${Meta.clientInfo}`),
  capabilities: CLIENT_SHAPE.slot(`params._meta.${Meta.clientCapabilities}`),
  logLevel: CLIENT_SHAPE.slot(`params._meta.${Meta.logLevel}`),
} as const;

/**
 * The members read of every message from a server: those that identify the request it belongs to, and those that show
 * whether a tool result is valid.
 */
export const SERVER_SHAPE = defineShape(
  {
    ...ENVELOPE,
    params: { progressToken: true },
    result: { content: true, task: true },
  },
  {
    params: {
      _meta: { progressToken: true, [Meta.subscriptionId]: true },
      uri: true,
      requestId: true,
      mode: true,
      level: true,
    },
    result: {
      contents: true,
      task: { taskId: true },
      resultType: true,
      taskId: true,
      inputRequests: true,
      requestState: true,
      ttlMs: true,
      cacheScope: true,
      _meta: { [Meta.serverInfo]: true },
    },
  },
  // Each answer of a modern server names the server.
  ['result._meta'],
);

export const Server = {
  id: Envelope.id,
  method: Envelope.method,
  params: Envelope.params,
  /** The token of progress reported by the server. */
  progressToken: SERVER_SHAPE.slot('params.progressToken'),
  /** The token with which the server requests progress. */
  askToken: SERVER_SHAPE.slot('params._meta.progressToken'),
  uri: SERVER_SHAPE.slot('params.uri'),
  requestId: SERVER_SHAPE.slot('params.requestId'),
  mode: SERVER_SHAPE.slot('params.mode'),
  level: SERVER_SHAPE.slot('params.level'),
  result: Envelope.result,
  content: SERVER_SHAPE.slot('result.content'),
  contents: SERVER_SHAPE.slot('result.contents'),
  /** Present if the answer is a task; its id is looked up only then. */
  task: SERVER_SHAPE.slot('result.task'),
  taskId: SERVER_SHAPE.slot('result.task.taskId'),
  error: Envelope.error,
  /** The type of the result, if a modern server names it. */
  resultType: SERVER_SHAPE.slot('result.resultType'),
  /** The id of the task that a modern server answered with. */
  modernTaskId: SERVER_SHAPE.slot('result.taskId'),
  inputRequests: SERVER_SHAPE.slot('result.inputRequests'),
  requestState: SERVER_SHAPE.slot('result.requestState'),
  ttlMs: SERVER_SHAPE.slot('result.ttlMs'),
  cacheScope: SERVER_SHAPE.slot('result.cacheScope'),
  resultMeta: SERVER_SHAPE.slot('result._meta'),
  serverInfo: SERVER_SHAPE.slot(`result._meta.${Meta.serverInfo}`),
  /** The `_meta` of a notification, and the id of the subscription it belongs to. */
  meta: SERVER_SHAPE.slot('params._meta'),
  subscriptionId: SERVER_SHAPE.slot(`params._meta.${Meta.subscriptionId}`),
} as const;

/**
 * The members read of an answer to a handshake. Servers may say anything about themselves, at any length, so it is not
 * parsed as a whole.
 */
export const HANDSHAKE_SHAPE = defineShape({
  ...ENVELOPE,
  result: {
    protocolVersion: true,
    supportedVersions: true,
    serverInfo: true,
    capabilities: true,
    instructions: true,
    _meta: { [Meta.serverInfo]: true },
  },
});

export const HandshakeAnswer = {
  protocolVersion: HANDSHAKE_SHAPE.slot('result.protocolVersion'),
  supportedVersions: HANDSHAKE_SHAPE.slot('result.supportedVersions'),
  serverInfo: HANDSHAKE_SHAPE.slot('result.serverInfo'),
  capabilities: HANDSHAKE_SHAPE.slot('result.capabilities'),
  instructions: HANDSHAKE_SHAPE.slot('result.instructions'),
  modernServerInfo: HANDSHAKE_SHAPE.slot(`result._meta.${Meta.serverInfo}`),
} as const;

/** The members read of an answer with a list. */
export const LIST_SHAPE = defineShape({
  ...ENVELOPE,
  result: {
    tools: true,
    resources: true,
    resourceTemplates: true,
    prompts: true,
    tasks: true,
    nextCursor: true,
    ttlMs: true,
  },
});

export const ListPage = {
  list: (kind: ListKind): number => LIST_SHAPE.slot(`result.${LIST_KINDS[kind].member}`),
  nextCursor: LIST_SHAPE.slot('result.nextCursor'),
  ttlMs: LIST_SHAPE.slot('result.ttlMs'),
} as const;
