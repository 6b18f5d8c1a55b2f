import type { Refusal } from './model-server.ts';
import type { OpenaiServerOptions } from './openai-server.ts';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** What an OpenAI-compatible API finds wrong with a request; undefined where it would answer. */
export function openaiRules({ key, models, refuses = [] }: OpenaiServerOptions) {
  return (request: { readonly headers: Record<string, string>; readonly body: any }): Refusal | undefined => {
    const { headers, body } = request;
    if (key !== undefined && headers.authorization === undefined) {
      return { status: 401, message: "You didn't provide an API key." };
    }
    if (key !== undefined && headers.authorization !== `Bearer ${key}`) {
      return { status: 401, message: 'Incorrect API key provided.' };
    }
    if (models !== undefined && !models.includes(body.model as string)) {
      return { status: 404, message: `The model '${String(body.model)}' does not exist.` };
    }
    const unknown = refuses.find((name) => name in body);
    const message = unknown === undefined ? bodyFault(body) : `Unsupported parameter: '${unknown}'.`;
    return message === undefined ? undefined : { status: 400, message };
  };
}

function bodyFault(body: any): string | undefined {
  if (typeof body.model !== 'string' || body.model === '') return 'you must provide a model parameter';
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "[] is too short - 'messages'";
  if (body.stream_options !== undefined && body.stream !== true) {
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
  }
  if (body.max_tokens !== undefined && body.max_completion_tokens !== undefined) {
    return 'Setting both max_tokens and max_completion_tokens is not supported.';
  }
  return toolsFault(body.tools) ?? messagesFault(body.messages);
}

function toolsFault(tools: any): string | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools) || tools.length === 0) return "[] is too short - 'tools'";
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== 'function') return `Missing required parameter: 'tools[${index}].type'.`;
    if (!NAME.test(tool.function?.name as string)) return `Invalid 'tools[${index}].function.name'.`;
    if (tool.function.parameters?.type !== 'object') {
      return `Invalid schema for function '${String(tool.function.name)}': schema must be of type "object".`;
    }
  }
  return undefined;
}

function messagesFault(messages: any[]): string | undefined {
  /** Calls of the last assistant message that have no answer yet. */
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (message.role === 'tool') {
      if (!open.includes(message.tool_call_id as string)) {
        return "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      }
      open = open.filter((id) => id !== message.tool_call_id);
    } else if (open.length > 0) return unanswered(open);
    const fault = messageFault(message, at);
    if (fault !== undefined) return fault;
    if (message.role === 'assistant') open = (message.tool_calls ?? []).map((call: any) => call.id);
  }
  return open.length > 0 ? unanswered(open) : undefined;
}

function unanswered(open: string[]): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages. Missing: ${open.join(', ')}`;
}

function messageFault(message: any, at: string): string | undefined {
  const roles = ['system', 'user', 'assistant', 'tool'];
  if (!roles.includes(message.role as string)) return `Invalid value: '${at}.role'.`;
  const calls = message.tool_calls as any[] | undefined;
  if (calls?.length === 0) return `Invalid '${at}.tool_calls': empty array.`;
  if (typeof message.content !== 'string' && !Array.isArray(message.content) && calls === undefined) {
    return `Invalid value for 'content': expected a string, got null. (${at})`;
  }
  for (const call of calls ?? []) {
    if (call.type !== 'function' || typeof call.id !== 'string') return `Invalid '${at}.tool_calls'.`;
    // Not OpenAI itself, but servers that hand the arguments to a model's own template need them whole.
    if (!isJson(call.function.arguments)) return `Invalid '${at}.tool_calls': arguments are no JSON.`;
  }
  return undefined;
}

function isJson(text: unknown): boolean {
  try {
    JSON.parse(String(text));
    return true;
  } catch {
    return false;
  }
}
