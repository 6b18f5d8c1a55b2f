/**
 * The tools that the suite calls by name and that ask their client nothing.
 */
import { PIXEL, SILENCE } from './offer.mjs';
import { ASKING_TOOLS } from './asking-tools.mjs';

const text = (value) => ({ type: 'text', text: value });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const takes = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });

/**
 * Name → { description, inputSchema?, run(args, call) }. run gives content blocks, one text, or a whole result; what it
 * throws becomes an `isError` result.
 */
export const TOOLS = {
  test_simple_text: {
    description: 'Gives one text.',
    run: () => 'This is a simple text response for testing.',
  },
  test_image_content: { description: 'Gives an image.', run: () => [image] },
  test_audio_content: {
    description: 'Gives a sound.',
    run: () => [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }],
  },
  test_embedded_resource: {
    description: 'Gives a resource.',
    run: () => [
      {
        type: 'resource',
        resource: {
          uri: 'test://embedded-resource',
          mimeType: 'text/plain',
          text: 'This is an embedded resource content.',
        },
      },
    ],
  },
  test_multiple_content_types: {
    description: 'Gives a text, an image and a resource.',
    run: () => [
      text('Multiple content types test:'),
      image,
      {
        type: 'resource',
        resource: {
          uri: 'test://mixed-content-resource',
          mimeType: 'application/json',
          text: JSON.stringify({ test: 'data', value: 123 }),
        },
      },
    ],
  },
  test_tool_with_logging: {
    description: 'Logs three lines while it runs.',
    run: async (args, call) => {
      call.log('info', 'Tool execution started');
      await sleep(50);
      call.log('info', 'Tool processing data');
      await sleep(50);
      call.log('info', 'Tool execution completed');
      return 'Logged three lines.';
    },
  },
  test_logging_tool: {
    description: 'Logs at several levels.',
    run: async (args, call) => {
      for (const level of ['debug', 'info', 'warning', 'error']) call.log(level, `A line of level ${level}`);
      return 'Logged at four levels.';
    },
  },
  test_error_handling: {
    description: 'Always fails.',
    run: () => {
      throw new Error('This tool intentionally returns an error for testing');
    },
  },
  test_tool_with_progress: {
    description: 'Tells its progress three times.',
    run: async (args, call) => {
      for (const progress of [0, 50, 100]) {
        call.progress(progress, 100);
        await sleep(50);
      }
      return `Progress token: ${JSON.stringify(call.progressToken ?? null)}`;
    },
  },
  json_schema_2020_12_tool: {
    description: 'Its schema uses the wider words of JSON Schema 2020-12.',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: (args) => `Got ${JSON.stringify(args)}`,
  },
  test_reconnection: {
    description: 'Drops the stream of its answer while it runs, where the transport can take it up again.',
    run: async (args, call) => {
      call.dropStream?.();
      await sleep(100);
      return 'Finished after the stream was dropped.';
    },
  },
  test_missing_capability: {
    description: 'Runs only for clients that have a model to sample.',
    run: (args, call) => {
      call.need('sampling');
      return 'The client can sample.';
    },
  },
  test_trigger_tool_change: {
    description: 'Adds a tool to the list, or takes it away again.',
    run: (args, call) => {
      call.serverState.toggle('tools');
      return 'The list of tools has changed.';
    },
  },
  test_trigger_prompt_change: {
    description: 'Adds a prompt to the list, or takes it away again.',
    run: (args, call) => {
      call.serverState.toggle('prompts');
      return 'The list of prompts has changed.';
    },
  },
  test_trigger_resource_update: {
    description: 'Says that test://watched-resource has changed.',
    run: (args, call) => {
      call.serverState.tell({ what: 'resources', uri: 'test://watched-resource' });
      return 'The watched resource has changed.';
    },
  },
  test_x_mcp_header: {
    description: 'One argument travels as a header too, where the transport has headers.',
    inputSchema: takes({
      region: { type: 'string', description: 'Any text.', 'x-mcp-header': 'Region' },
    }),
    run: ({ region }) => `Region: ${region}`,
  },
  ...ASKING_TOOLS,
};
