import type { JsonObject } from '../../../protocol/index.ts';
import { SERVICE_STATES } from '../../runtime/services/service-state.ts';

/** An object without additional members. Those in `optional` may be missing. */
export function closed(members: JsonObject, optional: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    properties: { ...members, ...optional },
    required: Object.keys(members),
    additionalProperties: false,
  };
}

/** The same, but later versions may add members. */
function open(members: JsonObject, optional: JsonObject = {}): JsonObject {
  return { ...closed(members, optional), additionalProperties: true };
}

export function listOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

export const TEXT: JsonObject = { type: 'string' };
export const TEXTS = listOf(TEXT);
export const FLAG: JsonObject = { type: 'boolean' };
export const NUMBER: JsonObject = { type: 'integer' };
export const TEXT_OR_NULL: JsonObject = { type: ['string', 'null'] };
export const NUMBER_OR_NULL: JsonObject = { type: ['integer', 'null'] };
export const TEXTS_OR_NULL: JsonObject = { ...TEXTS, type: ['array', 'null'] };

const LIFE: JsonObject = {
  ...TEXT,
  description:
    'Of its process: running; stale (it is gone); unverified (nothing proves that the process is ours).',
};

const STATE: JsonObject = {
  ...TEXT,
  enum: [...SERVICE_STATES],
  description:
    'healthy: it listens and its health check succeeds; ready: it listens; running: it does not listen, as configured; ' +
    'the others do not work, and note says why.',
};

/** A service, from its record and its process. */
const SERVICE_FACTS: JsonObject = {
  service: TEXT,
  branch: TEXT,
  status: LIFE,
  state: STATE,
  url: TEXT,
  port: NUMBER_OR_NULL,
  pid: NUMBER_OR_NULL,
  log_file: TEXT,
  recent_errors: TEXTS,
};
export const SERVICE = open(SERVICE_FACTS, { note: TEXT });

/** The same for one service, with the working address. */
export const SERVICE_LOCATION = open(
  {
    ...SERVICE_FACTS,
    address: {
      ...TEXT_OR_NULL,
      description: 'The working address; null if there is none, and warnings say why.',
    },
    warnings: TEXTS,
  },
  { note: TEXT },
);

/** The same in a brief. */
export const BRIEF_SERVICE = open(
  {
    service: TEXT,
    branch: TEXT,
    status: LIFE,
    state: STATE,
    url: TEXT,
    port: NUMBER_OR_NULL,
    log_file: TEXT,
  },
  { note: TEXT },
);

export const CHECKOUT = open({
  service: TEXT,
  branch: TEXT,
  status: TEXT,
  listen_host: TEXT,
  listen_port: NUMBER_OR_NULL,
  target_host: TEXT,
  target_port: NUMBER_OR_NULL,
  log_file: TEXT,
});

export const CHECKOUT_STATUS = open({
  service: TEXT,
  branch: TEXT,
  status: { ...TEXT, description: 'running; stale: nothing forwards the port.' },
  service_state: { ...TEXT_OR_NULL, description: 'state of the service it points to.' },
  listen_host: TEXT,
  listen_port: NUMBER_OR_NULL,
  target_host: TEXT,
  target_port: NUMBER_OR_NULL,
});

export const PROXY = open(
  {
    status: {
      ...TEXT,
      enum: ['running', 'not-running', 'not-answering', 'taken'],
      description: 'Named addresses work only while it is running.',
    },
    host: TEXT,
    port: NUMBER,
  },
  { note: TEXT },
);

export const WORKTREE = open({ branch: TEXT, slug: TEXT, path: TEXT, updated_at: TEXT });
