import type { ToolApproval } from '../config/index.ts';
import { askUser, canAskUser, type Call, type Component, type UserAnswer } from '../gateway/index.ts';
import { toolHints, type JsonObject } from '../protocol/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { matchGlob } from '../shared/glob.ts';
import type { Logger } from '../shared/log.ts';
import { revealedLine } from '../shared/printable.ts';
import type { Decisions } from './decisions.ts';
import { AmbiguousArguments, shownArguments } from './shown-arguments.ts';
import { componentHash } from './tool-definition.ts';

export interface ApprovalGateOptions {
  readonly server: string;
  /** Identifies the server and how it is reached. */
  readonly key: string;
  readonly approval: ToolApproval;
  /** Arguments of a tool that are not shown. */
  readonly hiddenArguments: (tool: string) => ReadonlySet<string>;
  readonly decisions: Decisions;
  /** The command that allows a tool of the server permanently. */
  readonly allowCommand: (tool: string) => string;
  readonly log: Logger;
  /** How long a user may take to answer, in milliseconds. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
}

/** A call of one of the server's tools. */
export interface ToolCall {
  readonly call: Call;
  /** The tool's own name. */
  readonly name: string;
  /** The arguments as JSON text, as they will be sent to the server. */
  readonly args: string;
  /** The tool as its server currently lists it; undefined if it is not listed. */
  readonly listed: () => Component | undefined;
}

const TIMEOUT_MS = 600_000;

/** Asks the user of a client before a tool runs. */
export class ApprovalGate {
  readonly #options: ApprovalGateOptions;
  /** The question that each client currently shows. A second form on top of it would be answered unread. */
  readonly #asking = new WeakMap<object, Promise<unknown>>();

  constructor(options: ApprovalGateOptions) {
    this.#options = options;
  }

  /** Whether a call to this tool could require approval, whatever its annotations say. */
  concerns(tool: string): boolean {
    return asks(this.#options.approval, tool, () => true);
  }

  /** Resolves with the reason why the call must not run; undefined if it may run or has already ended. */
  async refusal(toolCall: ToolCall): Promise<SwitchboardError | undefined> {
    const { listed } = toolCall;
    const isDestructive = (): boolean => toolHints(listed()?.member('annotations')).destructive;
    if (!asks(this.#options.approval, toolCall.name, isDestructive)) return undefined;
    const before = hashOf(toolCall.listed());
    if (this.#isAllowed(toolCall, before)) return undefined;
    const { call, name } = toolCall;
    if (!canAskUser(call)) return this.#cannotAsk(call, name, 'this client does not support elicitation');
    const { session } = call;
    const turn = (this.#asking.get(session) ?? Promise.resolve()).then(() =>
      call.open ? this.#question(toolCall, before) : undefined,
    );
    this.#asking.set(
      session,
      turn.catch(() => undefined),
    );
    const refusal = await turn;
    // The tool has changed since the user agreed to it.
    if (refusal === undefined && hashOf(toolCall.listed()) !== before) return changedMeanwhile(call);
    return refusal;
  }

  async #question(toolCall: ToolCall, hash: string | undefined): Promise<SwitchboardError | undefined> {
    const { call, name } = toolCall;
    // The answer to the previous question may have allowed this tool.
    if (this.#isAllowed(toolCall, hash)) return undefined;
    let message: string;
    try {
      message = this.#message(toolCall);
    } catch (error) {
      if (!(error instanceof AmbiguousArguments)) throw error;
      return new SwitchboardError(
        'PARAMS_INVALID',
        `${call.subject()} was not run: an argument is given twice.`,
        {
          hint: 'Give each argument once.',
        },
      );
    }
    const { timeoutMs = TIMEOUT_MS } = this.#options;
    const choices = hash === undefined ? CHOICES.slice(0, 1) : CHOICES;
    return this.#heed(
      toolCall,
      hash,
      await askUser({ message, requestedSchema: form(choices), timeoutMs }, call),
      name,
    );
  }

  async #heed(
    { call }: ToolCall,
    hash: string | undefined,
    answer: UserAnswer,
    name: string,
  ): Promise<SwitchboardError | undefined> {
    if (answer.kind === 'cancelled') return undefined;
    if (answer.kind === 'unanswered') return this.#cannotAsk(call, name, answer.why);
    // A client without forms answers without content, which accepts the default.
    const { decision = 'once' } = answer.kind === 'accepted' ? answer.content : { decision: 'no' };
    if (!CHOICES.some(({ value }) => value === decision)) return declined(call);
    const { decisions, key, server, log } = this.#options;
    if (hash === undefined || decision === 'once') return undefined;
    decisions.allowInSession(call.session.keeper, { key, tool: name, hash });
    if (decision === 'always') {
      const since = new Date().toISOString();
      try {
        await decisions.allowForGood({ key, server, tool: name, hash, since });
      } catch (error) {
        log.warn('a decision could not be saved and holds for this session only', {
          server,
          tool: name,
          reason: messageOf(error),
        });
      }
    }
    return undefined;
  }

  #isAllowed({ call, name }: ToolCall, hash: string | undefined): boolean {
    if (hash === undefined) return false;
    const { decisions, key, log, server } = this.#options;
    const tool = { key, tool: name, hash };
    if (decisions.allowsInSession(call.session.keeper, tool)) return true;
    try {
      return decisions.allowsForGood(tool);
    } catch (error) {
      // A file that others could have written must not allow anything.
      log.warn('saved decisions are not used', { server, reason: messageOf(error) });
      return false;
    }
  }

  #message({ name, args, listed }: ToolCall): string {
    const { server, hiddenArguments } = this.#options;
    const annotations = listed()?.member('annotations');
    const says = toolHints(annotations).destructive ? ' It may change or delete something.' : '';
    return [
      `Run the tool ${JSON.stringify(revealedLine(name))} of the server ${JSON.stringify(revealedLine(server))}?${says}`,
      `Arguments: ${shownArguments(args, hiddenArguments(name))}`,
    ].join('\n');
  }

  #cannotAsk(call: Call, tool: string, why: string): SwitchboardError {
    const message = `${call.subject()} was not run: it needs the approval of the user, who could not be asked (${why}).`;
    return new SwitchboardError('CALL_NEEDS_APPROVAL', message, {
      hint:
        `The user can allow the tool in a terminal: ${this.#options.allowCommand(tool)}. ` +
        'Or use a client that supports elicitation.',
    });
  }
}

function asks({ which, tools, atLeast }: ToolApproval, tool: string, isDestructive: () => boolean): boolean {
  if (atLeast !== undefined && asks(atLeast, tool, isDestructive)) return true;
  const own = tools.get(tool);
  if (own !== undefined) return own;
  if (which === 'destructive') return isDestructive();
  return typeof which === 'string' ? which === 'all' : which.some((pattern) => matchGlob(pattern, tool));
}

const CHOICES = [
  { value: 'once', title: 'Only this call' },
  { value: 'session', title: 'This tool, for this session' },
  { value: 'always', title: 'This tool, from now on' },
] as const;

function form(choices: readonly (typeof CHOICES)[number][]): JsonObject {
  return {
    type: 'object',
    properties: {
      decision: {
        type: 'string',
        title: 'Allow',
        description: 'Whatever its arguments, a tool that you allow for longer runs without a question.',
        enum: choices.map(({ value }) => value),
        enumNames: choices.map(({ title }) => title),
        default: 'once',
      },
    },
    required: ['decision'],
  };
}

function hashOf(tool: Component | undefined): string | undefined {
  return tool && componentHash(tool);
}

function declined(call: Call): SwitchboardError {
  return new SwitchboardError('CALL_DECLINED', `${call.subject()} was not run: the user declined.`, {
    hint: 'Do not try again, or another way, unless the user asks for it.',
  });
}

function changedMeanwhile(call: Call): SwitchboardError {
  const message = `${call.subject()} was not run: the server changed the tool while the user was asked.`;
  return new SwitchboardError('TOOLS_CHANGED', message, {
    hint: 'Look at the tool again before you call it.',
  });
}
