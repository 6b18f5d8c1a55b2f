import type { ConverseOptions } from './converse.ts';
import { messageOf } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { printableLine } from '../shared/printable.ts';
import type { OfferedTool } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { TimeLimit } from '../shared/time-limit.ts';

export interface ConsentOptions extends Pick<ConverseOptions, 'server' | 'canElicit' | 'ask' | 'tell'> {
  /** Whether everything may run without asking. */
  readonly allowDestructive: boolean;
  /** The clock that pauses while the user decides. */
  readonly time: TimeLimit;
}

export type Permission =
  { readonly kind: 'granted' } | { readonly kind: 'declined' | 'not allowed'; readonly message: string };

/** Asks the user before a potentially destructive tool runs. An answer is valid for one call. */
export class Consent {
  readonly #options: ConsentOptions;
  /** The question that is currently shown. A second form on top of it would be answered unread. */
  #asking: Promise<unknown> = Promise.resolve();
  /** Calls that were declined, so that a model that tries again does not cause another question. */
  readonly #declined = new Set<string>();

  constructor(options: ConsentOptions) {
    this.#options = options;
  }

  /** Rejects only when the signal aborts. */
  async permit(tool: OfferedTool, args: JsonObject, signal: AbortSignal): Promise<Permission> {
    const { allowDestructive, canElicit, server } = this.#options;
    if (allowDestructive || !mayDestroy(tool)) return GRANTED;
    if (!canElicit) {
      const message = `It may be destructive, and the client does not support asking the user. ${howToAllow(server)}`;
      return { kind: 'not allowed', message };
    }
    const turn = this.#asking.then(() => this.#question(tool, args, signal));
    this.#asking = turn.catch(() => undefined);
    return turn;
  }

  async #question(tool: OfferedTool, args: JsonObject, signal: AbortSignal): Promise<Permission> {
    signal.throwIfAborted();
    const { server, ask, time, tell } = this.#options;
    const call = JSON.stringify([tool.name, args]);
    if (this.#declined.has(call)) return DECLINED;
    tell(`Asking for permission to run ${printableLine(tool.name)}`);
    let answer: JsonObject;
    try {
      answer = await time.hold(() => ask('elicitation/create', formFor(server, tool, args), signal));
    } catch (error) {
      signal.throwIfAborted();
      const message = `It may be destructive, and the user could not be asked: ${messageOf(error)}`;
      return { kind: 'not allowed', message };
    }
    if (answer.action === 'accept' && isObject(answer.content) && answer.content.allow === true) {
      return GRANTED;
    }
    this.#declined.add(call);
    return DECLINED;
  }
}

/** The next step if the user cannot be asked. */
export function howToAllow(server: string): string {
  return (
    `To allow such tools, set "language": { "allowDestructive": true } for server '${server}' (if its folder is ` +
    'wrapped: --allow-destructive in its .mcp.json), or use a client that supports elicitation.'
  );
}

const GRANTED: Permission = { kind: 'granted' };
const DECLINED: Permission = { kind: 'declined', message: 'The user did not allow it.' };

/**
 * Only if the server says so: hardly any server marks tools as harmless, so a missing annotation cannot count as a
 * warning. A server that marks a tool as changing things, without saying how, has said so: that is the protocol's
 * default.
 */
function mayDestroy({ component }: OfferedTool): boolean {
  const { annotations } = component.value;
  if (!isObject(annotations)) return false;
  const { readOnlyHint, destructiveHint } = annotations;
  return destructiveHint === true
    ? readOnlyHint !== true
    : destructiveHint === undefined && readOnlyHint === false;
}

/** How much of one text argument, and of all of them together, a user sees, in characters. */
const SHOWN_OF_ONE = 300;
const SHOWN = 4000;

/** Every argument has to be visible: a long one must not push the following ones out of sight. */
function shownArguments(args: JsonObject): string {
  const shortened = (_: string, value: unknown): unknown =>
    typeof value === 'string' ? beginningOf(value, SHOWN_OF_ONE) : value;
  return beginningOf(printableLine(JSON.stringify(args, shortened)), SHOWN);
}

function beginningOf(text: string, length: number): string {
  const more = text.length - length;
  return more > 0 ? `${text.slice(0, length)} … and ${more} more characters` : text;
}

function formFor(server: string, tool: OfferedTool, args: JsonObject): JsonObject {
  const name = printableLine(tool.name);
  return {
    message: `Allow '${name}' of server '${server}' to run? It may be destructive. Its arguments: ${shownArguments(args)}`,
    requestedSchema: {
      type: 'object',
      properties: {
        allow: {
          type: 'boolean',
          title: `Run ${name}`,
          description: 'Only this once, with these arguments.',
          default: false,
        },
      },
      required: ['allow'],
    },
  };
}
