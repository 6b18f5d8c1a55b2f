/**
 * A tiny MCP server with three pretend tools. It does nothing in the world: every call gives back what it was asked, so
 * that you (and the tests) can see exactly what arrived.
 *
 * It reads both ways of framing messages on stdio, one JSON message per line, or a `Content-Length` header before each,
 * and answers every message in the framing it came in.
 */

const VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

const selector = { type: 'string', description: 'A CSS selector, for example #save' };

const TOOLS = [
  {
    name: 'click',
    description: 'Click a selector',
    inputSchema: { type: 'object', properties: { selector }, required: ['selector'] },
  },
  {
    name: 'type',
    description: 'Type text into a selector',
    inputSchema: {
      type: 'object',
      properties: { selector, text: { type: 'string', description: 'The text to type' } },
      required: ['selector', 'text'],
    },
  },
  {
    name: 'screenshot',
    description: 'Take a screenshot of the page',
    inputSchema: { type: 'object', properties: {} },
  },
];

/** The result of a request, or an error. */
function answer(method, params) {
  switch (method) {
    case 'initialize': {
      const asked = params?.protocolVersion;
      return {
        result: {
          protocolVersion: VERSIONS.includes(asked) ? asked : VERSIONS.at(-1),
          capabilities: { tools: {} },
          serverInfo: { name: 'mock', version: '1.0.0' },
        },
      };
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: TOOLS } };
    case 'tools/call': {
      const { name, arguments: args = {} } = params ?? {};
      if (!TOOLS.some((tool) => tool.name === name)) {
        return { error: { code: -32602, message: `Unknown tool: ${name}` } };
      }
      // Not the shape MCP gives a tool result: on purpose, to show that results pass through as they are.
      return { result: { ok: true, name, args } };
    }
    default:
      return { error: { code: -32601, message: `Method not found: ${method}` } };
  }
}

function receive(text, reply) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    reply({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } });
    return;
  }
  // A message without id is a notification: nothing to answer.
  if (message?.method === undefined || message.id === undefined) return;
  reply({ jsonrpc: '2.0', id: message.id, ...answer(message.method, message.params) });
}

function replyFramed(message) {
  const body = JSON.stringify(message);
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}

function replyLine(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Takes whole messages from the front of the buffer and returns what is left of it. */
function takeMessages(buffer) {
  for (;;) {
    const start = buffer.findIndex((byte) => !' \t\r\n'.includes(String.fromCharCode(byte)));
    if (start < 0) return Buffer.alloc(0);
    buffer = buffer.subarray(start);
    if (buffer[0] === 0x7b /* { */) {
      const end = buffer.indexOf('\n');
      if (end < 0) return buffer;
      receive(buffer.subarray(0, end).toString(), replyLine);
      buffer = buffer.subarray(end + 1);
      continue;
    }
    const headEnd = buffer.indexOf('\r\n\r\n');
    if (headEnd < 0) return buffer;
    const length = /^content-length:\s*(\d+)/im.exec(buffer.subarray(0, headEnd).toString())?.[1];
    if (length === undefined) throw new Error('Expected a JSON line or a Content-Length header.');
    const bodyEnd = headEnd + 4 + Number(length);
    if (buffer.length < bodyEnd) return buffer;
    receive(buffer.subarray(headEnd + 4, bodyEnd).toString(), replyFramed);
    buffer = buffer.subarray(bodyEnd);
  }
}

let waiting = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  waiting = takeMessages(Buffer.concat([waiting, chunk]));
});
