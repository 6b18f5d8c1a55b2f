import type { SwitchboardError } from '../shared/errors.ts';
import { printable } from '../shared/printable.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { Model } from './model.ts';
import { textBlock } from './results.ts';

/** Everything that happened during one request. */
export interface ConversationLog {
  readonly model: Model;
  /** The latest text of the model; may be empty. */
  readonly answer: string;
  /** In the order in which the model made them. */
  readonly calls: readonly CallRecord[];
  /** Number of requests to the model. */
  readonly steps: number;
  readonly tokens: { readonly input: number; readonly output: number; readonly estimated: boolean };
  /** Content that is not text, from the last result that contained any. */
  readonly attachments: readonly JsonObject[];
  /** Why it ended early, if it did. */
  readonly stopped?: SwitchboardError | undefined;
}

/** A tool call, or one that the model wanted to make. */
export interface CallRecord {
  /** The name that clients of the server know. */
  readonly tool: string;
  /** As the model wrote them; undefined if they were not an object. */
  readonly arguments: JsonObject | undefined;
  readonly outcome: ToolCallOutcome;
  /** How long it ran, in milliseconds. */
  readonly ms: number;
  /** What went wrong. */
  readonly message?: string | undefined;
}

const OUTCOMES = ['ok', 'error', 'declined', 'not allowed', 'rejected', 'unknown tool'] as const;
export type ToolCallOutcome = (typeof OUTCOMES)[number];

/** The schema of a report's `structuredContent`, including that of a failed request. */
export const OUTPUT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    answer: { type: 'string', description: 'The answer of the model.' },
    calls: {
      type: 'array',
      description: 'The tools it called, in order.',
      items: {
        type: 'object',
        properties: {
          tool: { type: 'string' },
          arguments: { type: 'object' },
          outcome: { type: 'string', enum: [...OUTCOMES] },
          ms: { type: 'number', description: 'Duration in milliseconds.' },
          message: { type: 'string', description: 'What went wrong.' },
        },
        required: ['tool', 'outcome', 'ms'],
      },
    },
    steps: { type: 'integer', description: 'Number of requests to the model.' },
    model: { type: 'string' },
    provider: { type: 'string' },
    tokens: {
      type: 'object',
      properties: {
        input: { type: 'number' },
        output: { type: 'number' },
        estimated: { type: 'boolean', description: 'True if the provider does not report token counts.' },
      },
      required: ['input', 'output'],
    },
    stopped: {
      type: 'object',
      description: 'Why it stopped early.',
      properties: { code: { type: 'string' }, message: { type: 'string' } },
      required: ['code', 'message'],
    },
  },
  required: ['answer', 'calls', 'steps', 'model', 'provider'],
};

/** The CallToolResult of a natural-language request. */
export function report({
  model,
  answer,
  calls,
  steps,
  tokens,
  attachments,
  stopped,
}: ConversationLog): JsonObject {
  const { input, output, estimated } = tokens;
  const structuredContent = {
    answer,
    calls: calls.map(withoutGaps),
    steps,
    model: model.name,
    provider: model.provider,
    ...(input + output > 0 && { tokens: { input, output, ...(estimated && { estimated }) } }),
    ...(stopped && { stopped: { code: stopped.code, message: stopped.explained } }),
  };
  const text = stopped ? failureText(stopped, answer, calls) : answer;
  return {
    content: [textBlock(text), ...attachments],
    structuredContent,
    ...(stopped && { isError: true }),
  };
}

function withoutGaps(record: CallRecord): JsonObject {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** Many clients show a model only the text, and it must know what has already been done. */
function failureText(stopped: SwitchboardError, answer: string, calls: readonly CallRecord[]): string {
  const parts = [printable(stopped.explained)];
  if (answer !== '') parts.push(`The last message of the model: ${answer}`);
  if (calls.length > 0) parts.push(['Tools called so far:', ...calls.map(asLine)].join('\n'));
  return parts.join('\n\n');
}

function asLine({ tool, outcome, message }: CallRecord): string {
  return message === undefined ? `- ${tool}: ${outcome}` : `- ${tool}: ${outcome} (${message})`;
}
