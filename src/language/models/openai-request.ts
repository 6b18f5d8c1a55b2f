import type { JsonObject } from '../../protocol/index.ts';
import type { ModelRequest, ToolOutcome, ToolSpec, ModelMessage } from '../model.ts';
import { contentText } from './content-text.ts';

/** Parameters that differ between servers of this API: some use another name or do not support them. */
export interface Dialect {
  readonly limit: 'max_tokens' | 'max_completion_tokens';
  /** The longest response that may be requested, in tokens. */
  readonly longest: number;
  /** Whether it reports the token usage of a streamed response on request. */
  readonly usage: boolean;
}

/** A request for an OpenAI-compatible `chat/completions`. */
export function openaiRequest(model: string, request: ModelRequest, dialect: Dialect): JsonObject {
  const { system, tools, turns } = request;
  return {
    model,
    messages: [
      ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
      ...turns.flatMap(messagesOf),
    ],
    ...(tools.length === 0 ? {} : { tools: tools.map(toolOf) }),
    [dialect.limit]: Math.min(request.maxTokens, dialect.longest),
    stream: true,
    ...(dialect.usage ? { stream_options: { include_usage: true } } : {}),
  };
}

function toolOf({ name, description, inputSchema }: ToolSpec): JsonObject {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}

function messagesOf(turn: ModelMessage): JsonObject[] {
  switch (turn.from) {
    case 'user':
      return [{ role: 'user', content: turn.text }];
    case 'model':
      return [turn.reply.raw as JsonObject];
    case 'tools':
      return turn.results.map((result) => ({
        role: 'tool',
        tool_call_id: result.id,
        content: resultText(result),
      }));
  }
}

/** Results are plain text in this API; a failure shows only in the wording. */
function resultText({ content, isError }: ToolOutcome): string {
  const said = content.map(contentText).filter((text) => text.trim() !== '');
  const text = said.length > 0 ? said.join('\n') : '(nothing)';
  return isError ? `The tool failed: ${text}` : text;
}
