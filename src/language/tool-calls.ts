import type { ConverseOptions } from './converse.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import { untilAborted } from '../shared/until-aborted.ts';
import { ServerError, type OfferedTool } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { RpcCode } from '../wire/index.ts';
import type { Consent } from './consent.ts';
import type { ToolOutcome, ToolUse } from './model.ts';
import type { CallRecord, ToolCallOutcome } from './report.ts';
import { attachmentsOf, contentForModel, dataIn, firstText, textBlock } from './results.ts';
import type { ToolSpecs } from './tool-specs.ts';

export interface ToolCallsOptions extends Pick<
  ConverseOptions,
  'server' | 'run' | 'tell' | 'log' | 'signal'
> {
  readonly consent: Consent;
}

/** How one call ended. */
export interface FinishedToolCall {
  readonly use: ToolUse;
  /** Undefined if there is no tool with this name. */
  readonly tool: OfferedTool | undefined;
  readonly outcome: ToolCallOutcome;
  /** Whether there was no server to answer the call. */
  readonly lost: boolean;
  /** What the model gets as the result. */
  readonly content: readonly JsonObject[];
  readonly ms: number;
  /** What went wrong. */
  readonly message: string | undefined;
  /** Content that is not text in the server's response. */
  readonly attachments: readonly JsonObject[];
}

/** How many calls of one turn run at one time. */
const AT_ONCE = 8;

/**
 * The limit for all images and sounds of a conversation together, in characters of base64. All of them are kept and
 * sent with every turn, and no model accepts much more.
 */
const MOST_DATA = 20_000_000;

/** The longest stored message of a failed call, in characters; the model gets the whole message. */
const LONGEST_MESSAGE = 500;

/** Runs the calls of a model and records their results. */
export class ToolCalls {
  readonly records: CallRecord[] = [];
  /** Content that is not text, from the last result that contained any. */
  attachments: readonly JsonObject[] = [];
  readonly #options: ToolCallsOptions;
  #dataLeft = MOST_DATA;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /**
   * Runs the calls of one turn, several at a time. Resolves with the results of all of them, in order, including
   * failures. `book`: the tools that the model knew.
   */
  async runAll(uses: readonly ToolUse[], book: ToolSpecs): Promise<readonly FinishedToolCall[]> {
    const ended: (FinishedToolCall | undefined)[] = uses.map(() => undefined);
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let use = uses[next]; use !== undefined && !this.#options.signal.aborted; use = uses[next]) {
        const place = next++;
        ended[place] = await this.#one(use, book);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    // Calls that had not begun when it was stopped are not recorded.
    const begun = ended.filter((end) => end !== undefined);
    this.records.push(...begun.map(recordOf));
    this.attachments = begun.findLast((end) => end.attachments.length > 0)?.attachments ?? this.attachments;
    return begun;
  }

  async #one(use: ToolUse, book: ToolSpecs): Promise<FinishedToolCall> {
    const { server, log, tell, signal } = this.#options;
    const tool = book.find(use.name);
    if (tool === undefined) {
      tell('The model called a tool that does not exist; reporting it to the model');
      // The name is written by the model and may be private.
      log.debug('language call', { server, ms: 0, outcome: 'unknown tool' });
      return refused(use, tool, 'unknown tool', unknownTool(use.name, book));
    }
    const name = printableLine(tool.name);
    const started = performance.now();
    const end = await this.#attempt(use, tool);
    log.debug('language call', {
      server,
      tool: tool.name,
      ms: Math.round(performance.now() - started),
      outcome: end.outcome,
    });
    if (end.outcome !== 'ok' && !signal.aborted)
      tell(`${name} ${inWords(end.outcome)}; reporting it to the model`);
    return end;
  }

  async #attempt(use: ToolUse, tool: OfferedTool): Promise<FinishedToolCall> {
    const { consent, run, tell, signal } = this.#options;
    const { input } = use;
    if (input === undefined) {
      const why = use.malformed ?? 'they are not a JSON object';
      return refused(use, tool, 'rejected', `The arguments are invalid: ${why}. Nothing was run.`);
    }
    let started = performance.now();
    const end = (outcome: ToolCallOutcome, what: Partial<FinishedToolCall>): FinishedToolCall => {
      const ms = Math.round(performance.now() - started);
      return { ...BARE, use, tool, outcome, ms, ...what };
    };
    try {
      const permission = await untilAborted(consent.permit(tool, input, signal), signal);
      if (permission.kind !== 'granted') {
        return refused(
          use,
          tool,
          permission.kind,
          `It was not run. ${permission.message} Do not try it another way.`,
        );
      }
      tell(`Running ${printableLine(tool.name)}`);
      started = performance.now();
      const result = await untilAborted(run(tool, input, signal), signal);
      const content = contentForModel(result, this.#dataLeft);
      this.#dataLeft -= dataIn(content);
      const answered = { content, attachments: attachmentsOf(result) };
      if (result.isError !== true) return end('ok', answered);
      const message = firstText(result);
      const outcome = message !== undefined && REJECTION.test(message) ? 'rejected' : 'error';
      return end(outcome, { ...answered, message });
    } catch (error) {
      if (signal.aborted) return end('error', { message: STOPPED });
      const message = messageOf(error);
      const outcome = isRejection(error) ? 'rejected' : 'error';
      return end(outcome, { content: [textBlock(message)], message, lost: isLoss(error) });
    }
  }
}

const BARE = { content: [], attachments: [], lost: false, message: undefined };

const STOPPED = 'It was stopped before it responded; it may have taken effect.';

/** The result of a call in the form for the model. */
export function outcomeFor({ use, outcome, content }: FinishedToolCall): ToolOutcome {
  return { id: use.id, name: use.name, content, isError: outcome !== 'ok' };
}

/**
 * How servers built on the official SDK report that arguments do not match the schema: as a result, not as an error.
 */
const REJECTION = /^(MCP error -32602\b|Input validation error:)/;

function isRejection(error: unknown): boolean {
  if (error instanceof ServerError) return error.rpcCode === RpcCode.invalidParams;
  return error instanceof SwitchboardError && error.code === 'PARAMS_INVALID';
}

/** Errors that mean that no server could run anything. */
const LOSSES = new Set([
  'SERVER_LOST',
  'SERVER_CRASHED',
  'SERVER_FAILING',
  'START_FAILED',
  'START_TIMEOUT',
  'STOPPING',
  'LOGIN_NEEDED',
  'LOGIN_UNAVAILABLE',
]);

function isLoss(error: unknown): boolean {
  return error instanceof SwitchboardError && LOSSES.has(error.code);
}

function refused(
  use: ToolUse,
  tool: OfferedTool | undefined,
  outcome: ToolCallOutcome,
  message: string,
): FinishedToolCall {
  return { ...BARE, use, tool, outcome, content: [textBlock(message)], ms: 0, message };
}

function unknownTool(name: string, book: ToolSpecs): string {
  const near = book.near(name);
  const meant = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  return `There is no tool with this name.${meant} Use only the tools you were given.`;
}

function inWords(outcome: ToolCallOutcome): string {
  switch (outcome) {
    case 'declined':
      return 'was not allowed by the user';
    case 'not allowed':
      return 'is not allowed';
    case 'rejected':
      return 'rejected its arguments';
    default:
      return 'failed';
  }
}

function recordOf({ use, tool, outcome, ms, message }: FinishedToolCall): CallRecord {
  const name = tool?.name ?? printableLine(use.name).slice(0, 100);
  const short =
    message === undefined || message.length <= LONGEST_MESSAGE
      ? message
      : `${message.slice(0, LONGEST_MESSAGE)} […]`;
  return { tool: name, arguments: use.input, outcome, ms, message: short };
}
