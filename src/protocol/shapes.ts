import { defineShape, Envelope, ENVELOPE } from '../wire/index.ts';

/**
 * What is read of every message from a client: what it is routed by, and what is rewritten on the way. Rare members
 * (cursors, versions, reasons) are parsed where they are needed. The members of a suite call are found in the same pass
 * as everything else, because a second pass over the arguments costs as much as the first.
 */
export const CLIENT_SHAPE = defineShape({
  ...ENVELOPE,
  params: {
    name: true,
    arguments: { action: true, subtool: true, args: true },
    requestId: true,
    _meta: { progressToken: true },
  },
});

export const Client = {
  id: Envelope.id,
  method: Envelope.method,
  params: Envelope.params,
  name: CLIENT_SHAPE.slot('params.name'),
  arguments: CLIENT_SHAPE.slot('params.arguments'),
  action: CLIENT_SHAPE.slot('params.arguments.action'),
  subtool: CLIENT_SHAPE.slot('params.arguments.subtool'),
  args: CLIENT_SHAPE.slot('params.arguments.args'),
  requestId: CLIENT_SHAPE.slot('params.requestId'),
  progressToken: CLIENT_SHAPE.slot('params._meta.progressToken'),
} as const;

/** What is read of every message from a server: whom it belongs to, and whether a tool result has the shape of one. */
export const SERVER_SHAPE = defineShape({
  ...ENVELOPE,
  params: { progressToken: true },
  result: { content: true },
});

export const Server = {
  id: Envelope.id,
  method: Envelope.method,
  progressToken: SERVER_SHAPE.slot('params.progressToken'),
  result: Envelope.result,
  content: SERVER_SHAPE.slot('result.content'),
  error: Envelope.error,
} as const;
