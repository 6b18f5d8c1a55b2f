import type { RawMessageStreamEvent } from '@anthropic-ai/sdk/resources/messages';
import type { JsonObject } from '../../protocol/index.ts';
import type { ModelReply, ToolUse } from '../model.ts';
import { parseToolInput } from './parse-tool-input.ts';
import { ReplySize } from './reply-size.ts';

interface Block {
  readonly content: JsonObject;
  /** The pieces of a call's input. */
  json: string;
}

/** A turn of an Anthropic model, assembled from the events of its stream. */
export class AnthropicReply {
  /** Whether the stream has ended properly. */
  complete = false;
  readonly #blocks = new Map<number, Block>();
  #stop: string | null = null;
  #input: number | undefined;
  #output: number | undefined;
  readonly #size = new ReplySize();

  take(event: RawMessageStreamEvent): void {
    switch (event.type) {
      case 'message_start':
        this.#count(event.message.usage);
        break;
      case 'content_block_start':
        this.#size.addPart();
        this.#blocks.set(event.index, { content: { ...event.content_block }, json: '' });
        break;
      case 'content_block_delta': {
        const block = this.#blocks.get(event.index);
        if (block) grow(block, { ...event.delta }, this.#size);
        break;
      }
      case 'message_delta':
        this.#stop = event.delta.stop_reason;
        this.#count(event.usage);
        break;
      case 'message_stop':
        this.complete = true;
    }
  }

  reply(): ModelReply {
    const raw: JsonObject[] = [];
    const calls: ToolUse[] = [];
    let text = '';
    for (const { content, json } of this.#blocks.values()) {
      raw.push(content);
      if (content.type === 'text') text += content.text as string;
      if (!('input' in content)) continue;
      const written = parseToolInput(json === '' ? content.input : json);
      // What is sent back must be an object, whatever the model wrote.
      content.input = written.input ?? {};
      if (content.type === 'tool_use') {
        calls.push({ id: content.id as string, name: content.name as string, ...written });
      }
    }
    const usage = this.#input === undefined ? undefined : { input: this.#input, output: this.#output ?? 0 };
    return { text, calls, stop: stopOf(this.#stop, calls.length > 0), usage, raw };
  }

  #count(usage: Partial<Counted> | undefined): void {
    if (usage === undefined) return;
    const { input_tokens: read, cache_creation_input_tokens: kept, cache_read_input_tokens: reread } = usage;
    // Sent twice, the second time perhaps without the cached part.
    if (typeof read === 'number')
      this.#input = Math.max(this.#input ?? 0, read + (kept ?? 0) + (reread ?? 0));
    if (typeof usage.output_tokens === 'number') this.#output = usage.output_tokens;
  }
}

interface Counted {
  readonly input_tokens: number | null;
  readonly cache_creation_input_tokens: number | null;
  readonly cache_read_input_tokens: number | null;
  readonly output_tokens: number;
}

/** Adds a piece to its block, even if that is of an unknown kind. */
function grow(block: Block, { type, ...pieces }: JsonObject, size: ReplySize): void {
  if (type === 'input_json_delta') {
    const piece = String(pieces.partial_json);
    size.addArguments(piece);
    block.json += piece;
    return;
  }
  const { content } = block;
  for (const [key, piece] of Object.entries(pieces)) {
    if (key === 'citation') {
      const { citations } = content;
      if (Array.isArray(citations)) citations.push(piece);
      else content.citations = [piece];
    } else if (typeof piece === 'string' && typeof content[key] === 'string') content[key] += piece;
    else content[key] = piece;
  }
}

function stopOf(reason: string | null, calling: boolean): ModelReply['stop'] {
  switch (reason) {
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length';
    case 'refusal':
      return 'refused';
    default:
      return calling ? 'calls' : 'done';
  }
}
