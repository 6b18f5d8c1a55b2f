/**
 * Lists what no client takes: items with members that are not what they must be. Each is named after what is wrong with it.
 *
 *   node test/servers/bad-items.mjs
 *
 * Tools: no_schema, number_description, string_schema, text_annotations; calling one gives its name. Also one resource, one
 * template and one prompt, and pid.
 */
import { serve } from './lib/server.mjs';

const schema = { type: 'object' };
const named = (name) => () => `ran ${name}`;

serve({
  name: 'bad-items',
  capabilities: { tools: {}, resources: {}, prompts: {} },
  tools: {
    no_schema: { inputSchema: undefined, run: named('no_schema') },
    number_description: { description: 5, inputSchema: schema, run: named('number_description') },
    string_schema: { inputSchema: { type: 'string' }, run: named('string_schema') },
    text_annotations: { annotations: 'none', inputSchema: schema, run: named('text_annotations') },
    pid: { run: () => String(process.pid) },
  },
  methods: {
    'resources/list': () => ({ resources: [{ uri: 'bad://number-type', name: 'r', mimeType: 7 }] }),
    'resources/templates/list': () => ({
      resourceTemplates: [{ uriTemplate: 'bad://{id}', name: 't', icons: 'none' }],
    }),
    'prompts/list': () => ({ prompts: [{ name: 'text_arguments', arguments: 'x' }] }),
  },
});
