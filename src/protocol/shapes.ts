import { defineShape, ENVELOPE } from '../wire/index.ts';

/** What is read of a message from a client: what it is routed by, and what is rewritten on the way. */
export const CLIENT_SHAPE = defineShape({
  ...ENVELOPE,
  params: {
    name: true,
    arguments: true,
    cursor: true,
    requestId: true,
    reason: true,
    protocolVersion: true,
    _meta: { progressToken: true },
  },
});

export const Client = {
  id: CLIENT_SHAPE.slot('id'),
  method: CLIENT_SHAPE.slot('method'),
  params: CLIENT_SHAPE.slot('params'),
  name: CLIENT_SHAPE.slot('params.name'),
  arguments: CLIENT_SHAPE.slot('params.arguments'),
  cursor: CLIENT_SHAPE.slot('params.cursor'),
  requestId: CLIENT_SHAPE.slot('params.requestId'),
  reason: CLIENT_SHAPE.slot('params.reason'),
  protocolVersion: CLIENT_SHAPE.slot('params.protocolVersion'),
  progressToken: CLIENT_SHAPE.slot('params._meta.progressToken'),
} as const;

/** What is read of a message from a server: whom it belongs to, and whether a tool result has the shape of one. */
export const SERVER_SHAPE = defineShape({
  ...ENVELOPE,
  params: { progressToken: true, requestId: true },
  result: {
    content: true,
    structuredContent: true,
    isError: true,
    task: true,
    resultType: true,
    toolResult: true,
  },
  error: { code: true, message: true },
});

export const Server = {
  id: SERVER_SHAPE.slot('id'),
  method: SERVER_SHAPE.slot('method'),
  progressToken: SERVER_SHAPE.slot('params.progressToken'),
  requestId: SERVER_SHAPE.slot('params.requestId'),
  result: SERVER_SHAPE.slot('result'),
  content: SERVER_SHAPE.slot('result.content'),
  structuredContent: SERVER_SHAPE.slot('result.structuredContent'),
  isError: SERVER_SHAPE.slot('result.isError'),
  task: SERVER_SHAPE.slot('result.task'),
  resultType: SERVER_SHAPE.slot('result.resultType'),
  toolResult: SERVER_SHAPE.slot('result.toolResult'),
  error: SERVER_SHAPE.slot('error'),
  errorCode: SERVER_SHAPE.slot('error.code'),
  errorMessage: SERVER_SHAPE.slot('error.message'),
} as const;
