import type { JsonObject } from '../../protocol/index.ts';

/** An object of which all members are named. What stands in `optional` may be missing. */
export function closed(members: JsonObject, optional: JsonObject = {}): JsonObject {
  return {
    type: 'object',
    properties: { ...members, ...optional },
    required: Object.keys(members),
    additionalProperties: false,
  };
}

/** The same where others may come in a later version. */
function open(members: JsonObject): JsonObject {
  return { ...closed(members), additionalProperties: true };
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
  description: 'running; stale: it is gone; unverified: nothing proves that the process is ours.',
};

/** A service as it is known from its record and from looking at it. */
export const SERVICE = open({
  service: TEXT,
  branch: TEXT,
  status: LIFE,
  url: TEXT,
  port: NUMBER_OR_NULL,
  pid: NUMBER_OR_NULL,
  log_file: TEXT,
  recent_errors: TEXTS,
});

/** The same in a brief. */
export const BRIEF_SERVICE = open({
  service: TEXT,
  branch: TEXT,
  status: LIFE,
  url: TEXT,
  port: NUMBER_OR_NULL,
  log_file: TEXT,
});

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

export const WORKTREE = open({ branch: TEXT, slug: TEXT, path: TEXT, updated_at: TEXT });
