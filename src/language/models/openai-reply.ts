import { randomUUID } from 'node:crypto';
import { isObject } from '../../shared/is-object.ts';
import type { JsonObject } from '../../protocol/index.ts';
import type { ModelReply, ToolUse } from '../model.ts';
import { parseToolInput } from './parse-tool-input.ts';
import { ReplySize } from './reply-size.ts';

interface Call {
  id: string;
  name: string;
  /** Some servers send an object instead of its text. */
  written: string | JsonObject;
  /** Members that the server added, and may want back. */
  readonly more: JsonObject;
}

/** A turn of a model with an OpenAI-compatible API, assembled from the pieces of its stream. */
export class OpenaiReply {
  #text = '';
  #refusal = '';
  readonly #calls: Call[] = [];
  readonly #places = new Map<number, Call>();
  readonly #more: JsonObject = {};
  #finish: string | undefined;
  #usage: ModelReply['usage'];
  readonly #size = new ReplySize();

  /** Whether it has sent its stop reason. */
  get finished(): boolean {
    return this.#finish !== undefined;
  }

  /** Adds a piece of a stream, or the whole response of a server that does not stream. */
  take({ choices, usage }: JsonObject): void {
    if (isObject(usage)) this.#usage = usageOf(usage) ?? this.#usage;
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
    if (!isObject(choice)) return;
    const piece = choice.delta ?? choice.message;
    if (isObject(piece)) this.#grow(piece);
    if (typeof choice.finish_reason === 'string') this.#finish = choice.finish_reason;
  }

  reply(): ModelReply {
    const calls: ToolUse[] = [];
    const given: JsonObject[] = [];
    for (const { id, name, written, more } of this.#calls) {
      const read = parseToolInput(written);
      calls.push({ id, name, ...read });
      // What is sent back must be JSON, whatever the model wrote.
      const text = typeof written === 'string' && read.input && written !== '' ? written : undefined;
      const whole = { name, arguments: text ?? JSON.stringify(read.input ?? {}) };
      given.push({ ...more, id, type: 'function', function: whole });
    }
    const content = this.#text === '' && calls.length > 0 ? null : this.#text;
    const raw: JsonObject = { ...this.#more, role: 'assistant', content };
    if (given.length > 0) raw.tool_calls = given;
    return {
      text: this.#text === '' ? this.#refusal : this.#text,
      calls,
      stop: this.#stop(calls.length > 0),
      usage: this.#usage,
      raw,
    };
  }

  #stop(calling: boolean): ModelReply['stop'] {
    if (this.#finish === 'length') return 'length';
    if (this.#finish === 'content_filter' || this.#refusal !== '') return 'refused';
    return calling ? 'calls' : 'done';
  }

  #grow(piece: JsonObject): void {
    for (const [key, value] of Object.entries(piece)) {
      if (value === null || value === undefined || OWN.has(key)) continue;
      if (key === 'content') this.#text += textOf(value);
      else if (key === 'refusal') this.#refusal += textOf(value);
      else if (key === 'tool_calls') for (const call of list(value)) this.#growCall(call);
      else add(this.#more, key, value);
    }
  }

  #growCall({ index, id, function: called, ...more }: JsonObject): void {
    const names = isObject(called) && typeof called.name === 'string' && called.name !== '';
    const call = this.#callAt(index, id, names);
    for (const [key, value] of Object.entries(more)) if (key !== 'type') add(call.more, key, value);
    if (!isObject(called)) return;
    // Some servers send the whole name with every piece.
    if (typeof called.name === 'string' && called.name !== call.name) call.name += called.name;
    if (isObject(called.arguments)) call.written = called.arguments;
    else if (typeof called.arguments === 'string' && typeof call.written === 'string') {
      this.#size.addArguments(called.arguments);
      call.written += called.arguments;
    }
  }

  /**
   * Some servers do not number calls, or give every call the same number; some have no ids. `names`: the piece names a
   * tool.
   */
  #callAt(index: unknown, id: unknown, names: boolean): Call {
    const named = typeof id === 'string' && id !== '' ? id : undefined;
    const place = typeof index === 'number' ? index : undefined;
    const known =
      place === undefined ? (named === undefined ? this.#calls.at(-1) : undefined) : this.#places.get(place);
    const same = named === undefined ? known : this.#calls.find((call) => call.id === named);
    // A tool name after a complete call begins the next call.
    const isNext = named === undefined && names && same !== undefined && isWhole(same);
    if (same !== undefined && !isNext) return same;
    this.#size.addPart();
    const call = { id: named ?? `call_${randomUUID()}`, name: '', written: '', more: {} };
    this.#calls.push(call);
    if (place !== undefined) this.#places.set(place, call);
    return call;
  }
}

function isWhole({ name, written }: Call): boolean {
  return name !== '' && written !== '' && parseToolInput(written).input !== undefined;
}

/** Members of a response that are not accepted in a request. */
const OWN = new Set(['role', 'annotations', 'audio', 'function_call']);

function add(to: JsonObject, key: string, value: unknown): void {
  const before = to[key];
  if (typeof before === 'string' && typeof value === 'string') to[key] = before + value;
  else if (Array.isArray(before) && Array.isArray(value)) for (const each of value) before.push(each);
  else if (value !== null) to[key] = value;
}

/** Some servers send a list of parts. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return list(value)
    .map((part) => (typeof part.text === 'string' ? part.text : ''))
    .join('');
}

function list(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function usageOf({ prompt_tokens: input, completion_tokens: output }: JsonObject): ModelReply['usage'] {
  if (typeof input !== 'number') return undefined;
  return { input, output: typeof output === 'number' ? output : 0 };
}
