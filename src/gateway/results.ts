import type { Edit, Message } from '../wire/index.ts';
import type { Call } from './call.ts';
import type { Session } from './session.ts';

/** How long the results of a tool may be. */
export interface ResultLimits {
  readonly results: Results;
  /** A response of up to this many bytes passes unchecked. */
  readonly passBytes: number;
  /** The longest text of a result, in tokens. Undefined: no limit. */
  readonly maxTokens: number | undefined;
  /** Whether the white space between the tokens of JSON texts is removed. */
  readonly minify: boolean;
}

/**
 * How a client reads the rest of a result: always as a resource, and also with a suite's action `read` or with
 * `call_tool`.
 */
export type ResultReader = 'resource' | 'action' | 'tool';

/** Makes results fit their limits. What is cut out is kept for the client that the result was for, and only for it. */
export interface Results {
  /** The edits that make a response fit; empty if it fits. Never rejects: what cannot be kept is not cut. */
  fit(answer: Message, call: Call, limits: ResultLimits, reader: ResultReader): Promise<readonly Edit[]>;
  /** Whether this is the URI of a result kept for this client. */
  has(session: Session, uri: string): boolean;
  /** Whether this may have been the URI of a kept result. */
  isOurs(uri: string): boolean;
  /** Answers `resources/read` for such a URI. */
  readResource(call: Call, uri: string): void;
  /** Answers the action `read` of a suite, or `call_tool`; the parameters are in the arguments of the call. */
  readByAction(call: Call, tool: string, reader: ResultReader): void;
  /** The client has left: drops what was kept for it. */
  forget(session: Session): void;
}

/** The template of their URIs, as listed in `resources/templates/list`. */
export const RESULT_TEMPLATE = JSON.stringify({
  uriTemplate: 'switchboard-result://{id}{?lines,chars,pattern,path}',
  name: 'result',
  title: 'The whole of a long tool result',
  description:
    'Results that were too long for one answer, by the id that the answer names. lines=100-200 or chars=1-5000 (both count ' +
    'from 1), pattern=REGEX (lines that match) or path=$.items[*].name (of JSON).',
  mimeType: 'text/plain',
});
