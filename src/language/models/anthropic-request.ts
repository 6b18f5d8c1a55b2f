import { isObject } from '../../shared/is-object.ts';
import type {
  ContentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  TextBlockParam,
  Tool,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import type { JsonObject } from '../../protocol/index.ts';
import type { ModelRequest, ToolOutcome, ToolSpec, ModelMessage } from '../model.ts';
import { contentText } from './content-text.ts';

/**
 * A request for the Anthropic Messages API. The part that stays the same from one step to the next is marked for
 * caching, which reduces the cost of reading it again to a tenth.
 */
export function anthropicRequest(model: string, request: ModelRequest): MessageCreateParamsStreaming {
  const { system, tools, turns } = request;
  return {
    model,
    max_tokens: request.maxTokens,
    stream: true,
    ...(isBlank(system) ? {} : { system: [{ type: 'text', text: system, cache_control: KEEP }] }),
    ...(tools.length === 0
      ? {}
      : { tools: tools.map((tool, index) => toolOf(tool, index === tools.length - 1)) }),
    messages: messagesOf(turns),
  };
}

const KEEP = { type: 'ephemeral' } as const;

function toolOf({ name, description, inputSchema }: ToolSpec, last: boolean): Tool {
  return {
    name,
    ...(isBlank(description) ? {} : { description }),
    input_schema: inputSchema as Tool.InputSchema,
    ...(last ? { cache_control: KEEP } : {}),
  };
}

function messagesOf(turns: readonly ModelMessage[]): MessageParam[] {
  const messages: { role: 'user' | 'assistant'; content: ContentBlockParam[] }[] = [];
  for (const [index, turn] of turns.entries()) {
    const role = turn.from === 'model' ? 'assistant' : 'user';
    const content = contentOf(turn, index === turns.length - 1);
    const before = messages.at(-1);
    // The API requires the roles to alternate.
    if (before?.role === role) before.content.push(...content);
    else messages.push({ role, content });
  }
  return messages;
}

function contentOf(turn: ModelMessage, last: boolean): ContentBlockParam[] {
  switch (turn.from) {
    case 'user':
      return [textBlock(turn.text)];
    case 'model': {
      const blocks = (turn.reply.raw as ContentBlockParam[]).filter(isSayable);
      return blocks.length > 0 ? blocks : [textBlock('')];
    }
    case 'tools': {
      const results = turn.results.map(resultOf);
      // The loop continues from here, so all of this is read again.
      const final = last ? results.at(-1) : undefined;
      if (final !== undefined) final.cache_control = KEEP;
      return results;
    }
  }
}

/** The API returns empty texts but does not accept them. */
function isSayable(block: ContentBlockParam): boolean {
  return block.type !== 'text' || !isBlank(block.text);
}

function textBlock(text: string): TextBlockParam {
  return { type: 'text', text: isBlank(text) ? '(nothing)' : text };
}

function resultOf({ id, content, isError }: ToolOutcome): ToolResultBlockParam {
  const parts = content
    .map(
      (block) =>
        (isError ? undefined : imageOf(block)) ?? { type: 'text' as const, text: contentText(block) },
    )
    .filter((part) => part.type !== 'text' || !isBlank(part.text));
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: parts.length > 0 ? parts : [textBlock('')],
    ...(isError ? { is_error: true } : {}),
  };
}

const MEDIA = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

/** The largest image that the API accepts, in characters of base64. */
const LARGEST_IMAGE = 5 * 1024 * 1024;

/** Undefined if the API does not accept it. */
function imageOf(block: JsonObject): ImageBlockParam | undefined {
  const image = block.type === 'resource' && isObject(block.resource) ? block.resource : block;
  const data = block.type === 'image' ? block.data : image.blob;
  const media = MEDIA.find((type) => type === image.mimeType);
  if (media === undefined || typeof data !== 'string' || data === '' || data.length > LARGEST_IMAGE) {
    return undefined;
  }
  return { type: 'image', source: { type: 'base64', media_type: media, data } };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}
