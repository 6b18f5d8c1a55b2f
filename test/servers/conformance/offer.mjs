/** The prompts, resources and templates that the suite asks for by name. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** A WAV file of no samples. */
export const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const user = (content) => ({ role: 'user', content });
const text = (value) => ({ type: 'text', text: value });
const argument = (name, description) => ({ name, description, required: true });

/** Name → { description, arguments?, get(args, call) }; a text that get returns is one message of the user. */
export const PROMPTS = {
  test_simple_prompt: {
    description: 'A prompt without arguments.',
    get: () => 'This is a simple prompt for testing.',
  },
  test_prompt_with_arguments: {
    description: 'A prompt with two arguments.',
    arguments: [argument('arg1', 'First argument.'), argument('arg2', 'Second argument.')],
    get: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  },
  test_prompt_with_embedded_resource: {
    description: 'A prompt with a resource inside.',
    arguments: [argument('resourceUri', 'The address of the resource to put inside.')],
    get: ({ resourceUri }) => [
      user({
        type: 'resource',
        resource: {
          uri: resourceUri,
          mimeType: 'text/plain',
          text: 'Embedded resource content for testing.',
        },
      }),
      user(text('Please process the embedded resource above.')),
    ],
  },
  test_prompt_with_image: {
    description: 'A prompt with an image inside.',
    get: () => [
      user({ type: 'image', data: PIXEL, mimeType: 'image/png' }),
      user(text('Please analyze the image above.')),
    ],
  },
  test_input_required_result_prompt: {
    description: 'A prompt that asks the person before it is given.',
    get: async (args, call) => {
      const { user_context: answer } = await call.ask({
        user_context: {
          method: 'elicitation/create',
          params: {
            message: 'What context should the prompt use?',
            requestedSchema: {
              type: 'object',
              properties: { context: { type: 'string' } },
              required: ['context'],
            },
          },
        },
      });
      return `Use this context: ${answer.content?.context ?? 'none'}`;
    },
  },
};

export const messagesOf = (given) => (typeof given === 'string' ? [user(text(given))] : given);

/** Address → what is listed of it, and what reading it gives. */
export const RESOURCES = {
  'test://static-text': {
    name: 'Static text',
    description: 'A text that never changes.',
    mimeType: 'text/plain',
    body: { text: 'This is the content of the static text resource.' },
  },
  'test://static-binary': {
    name: 'Static binary',
    description: 'An image that never changes.',
    mimeType: 'image/png',
    body: { blob: PIXEL },
  },
  'test://watched-resource': {
    name: 'Watched resource',
    description: 'A resource to subscribe to.',
    mimeType: 'text/plain',
    body: { text: 'Watched resource content.' },
  },
};

const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;

export const TEMPLATES = [
  {
    uriTemplate: 'test://template/{id}/data',
    name: 'Data by id',
    description: 'Data for whatever id is given.',
    mimeType: 'application/json',
  },
];

/** The contents of a resource, or undefined when there is none at that address. */
export function read(uri) {
  const resource = Object.hasOwn(RESOURCES, uri) ? RESOURCES[uri] : undefined;
  if (resource !== undefined) return [{ uri, mimeType: resource.mimeType, ...resource.body }];
  const id = TEMPLATE.exec(uri)?.[1];
  if (id === undefined) return undefined;
  const body = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` });
  return [{ uri, mimeType: 'application/json', text: body }];
}
