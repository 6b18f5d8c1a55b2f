import type { Refusal } from './model-server.ts';

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const MEDIA = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** What the Anthropic Messages API finds wrong with a request; undefined where it would answer. */
export function checkAnthropicRequest(request: {
  readonly headers: Record<string, string>;
  readonly body: any;
}): Refusal | undefined {
  const { headers, body } = request;
  // Since the version 2026-10-21 the official libraries send the key as a bearer token.
  if (!headers['x-api-key'] && !headers.authorization?.startsWith('Bearer ')) {
    return { status: 401, message: 'x-api-key header is required' };
  }
  const message = headers['anthropic-version'] ? bodyFault(body) : 'anthropic-version: header is required';
  return message === undefined ? undefined : { status: 400, message };
}

function bodyFault(body: any): string | undefined {
  if (typeof body.model !== 'string' || body.model === '') return 'model: Field required';
  if (!Number.isInteger(body.max_tokens) || body.max_tokens < 1) return 'max_tokens: Field required';
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    return 'messages: at least one message is required';
  }
  const gone = ['temperature', 'top_p', 'top_k'].find((name) => name in body);
  if (gone !== undefined) return `${gone}: Extra inputs are not permitted`;
  if (marks(body) > 4) return 'A maximum of 4 blocks with cache_control may be provided.';
  return systemFault(body.system) ?? toolsFault(body) ?? messagesFault(body);
}

/** How many places of the request are marked to be kept. */
function marks(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = 'cache_control' in value ? 1 : 0;
  return Object.values(value).reduce<number>((sum, inner) => sum + marks(inner), own);
}

function systemFault(system: any): string | undefined {
  if (system === undefined || typeof system === 'string') return undefined;
  return each(system, 'system', textFault);
}

function toolsFault({ tools, messages }: any): string | undefined {
  if (tools === undefined) {
    const used = messages.some(({ content }: any) => blocksOf(content).some(isOfTools));
    return used ? 'Requests which include `tool_use` or `tool_result` blocks must define tools.' : undefined;
  }
  const names = new Set<string>();
  return each(tools, 'tools', (tool: any, at) => {
    if (!NAME.test(tool.name)) return `${at}.name: String should match pattern '${NAME.source}'`;
    if (names.has(tool.name)) return 'tools: Tool names must be unique.';
    names.add(tool.name);
    if (tool.input_schema?.type !== 'object') return `${at}.input_schema.type: Input should be 'object'`;
    return undefined;
  });
}

function messagesFault({ messages }: any): string | undefined {
  if (messages[0].role !== 'user') return 'messages: first message must use the "user" role';
  return each(messages, 'messages', (message: any, at, index) => {
    if (message.role !== 'user' && message.role !== 'assistant') return `${at}.role: unexpected role`;
    if (message.role === messages[index - 1]?.role) return 'messages: roles must alternate';
    if (blocksOf(message.content).length === 0) return `${at}: all messages must have non-empty content`;
    return (
      each(blocksOf(message.content), `${at}.content`, (block, place) =>
        blockFault(block, place, message.role),
      ) ?? balanceFault(messages[index - 1], message, messages[index + 1], at)
    );
  });
}

function blockFault(block: any, at: string, role: string): string | undefined {
  switch (block.type) {
    case 'text':
      return textFault(block, at);
    case 'image':
      return imageFault(block, at);
    case 'tool_use':
      if (role !== 'assistant') return `${at}: tool_use blocks can only be in assistant messages`;
      if (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input)) {
        return `${at}.input: Input should be a valid dictionary`;
      }
      return NAME.test(block.name) ? undefined : `${at}.name: String should match pattern '${NAME.source}'`;
    case 'tool_result': {
      if (role !== 'user') return `${at}: tool_result blocks can only be in user messages`;
      return typeof block.content === 'string' || block.content === undefined
        ? undefined
        : each(block.content, `${at}.content`, (inner, place) => blockFault(inner, place, 'user'));
    }
    case 'thinking':
      return block.signature === Buffer.from(block.thinking as string).toString('base64')
        ? undefined
        : `${at}: Invalid \`signature\` in \`thinking\` block`;
    default:
      return `${at}: Input tag '${String(block.type)}' found does not match any of the expected tags`;
  }
}

function textFault(block: any, at: string): string | undefined {
  if (typeof block.text !== 'string') return `${at}.text: Input should be a valid string`;
  if (block.text === '') return `${at}: text content blocks must be non-empty`;
  return block.text.trim() === '' ? `${at}: text content blocks must contain non-whitespace text` : undefined;
}

function imageFault({ source }: any, at: string): string | undefined {
  if (source?.type !== 'base64') return `${at}.source: Field required`;
  if (!MEDIA.includes(source.media_type))
    return `${at}.source.media_type: Input should be ${MEDIA.join(', ')}`;
  return /^[A-Za-z0-9+/]+=*$/.test(source.data) ? undefined : `${at}.source.data: invalid base64 data`;
}

/** Every call has its result in the next turn, and every result its call in the turn before. */
function balanceFault(before: any, message: any, next: any, at: string): string | undefined {
  if (message.role === 'assistant') {
    const answered = ids(next, 'tool_result');
    const open = ids(message, 'tool_use').filter((id) => !answered.includes(id));
    if (open.length === 0) return undefined;
    return `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}.`;
  }
  const results = ids(message, 'tool_result');
  if (new Set(results).size < results.length) return `${at}: each tool_use must have a single result.`;
  const called = ids(before, 'tool_use');
  const stray = results.find((id) => !called.includes(id));
  if (stray !== undefined)
    return `${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${stray}.`;
  const kinds = blocksOf(message.content).map((block) => block.type as string);
  const late = kinds.lastIndexOf('tool_result') >= results.length;
  return late ? `${at}: \`tool_result\` blocks must come first.` : undefined;
}

function ids(message: any, type: string): string[] {
  return blocksOf(message?.content)
    .filter((block) => block.type === type)
    .map((block) => (block.id ?? block.tool_use_id) as string);
}

function blocksOf(content: any): any[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? content : [];
}

function isOfTools(block: any): boolean {
  return block.type === 'tool_use' || block.type === 'tool_result';
}

function each(
  items: any,
  name: string,
  fault: (item: any, at: string, index: number) => string | undefined,
): string | undefined {
  if (!Array.isArray(items)) return `${name}: Input should be a valid list`;
  for (const [index, item] of items.entries()) {
    const found = fault(item, `${name}.${index}`, index);
    if (found !== undefined) return found;
  }
  return undefined;
}
