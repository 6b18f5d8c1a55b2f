/**
 * The tools that ask their client something. Each is written once for both eras: its questions go through `call.ask`,
 * which is a request to the client in the legacy era and a second round of the call in the modern one.
 */
const text = (value) => ({ type: 'text', text: value });
const elicit = (message, properties, required = Object.keys(properties)) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, ...(required.length && { required }) } },
});
const sample = (prompt, maxTokens = 100) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: text(prompt) }], maxTokens },
});
const listRoots = { method: 'roots/list', params: {} };

/** What a model said, whether it came as one block or as several. */
const said = (answer) => [answer.content].flat().find((block) => block?.type === 'text')?.text ?? '';
const told = ({ action, content }) => `action=${action}, content=${JSON.stringify(content ?? {})}`;
const titled = (entries) => Object.entries(entries).map(([value, title]) => ({ const: value, title }));

const takes = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });

export const ASKING_TOOLS = {
  test_sampling: {
    description: 'Asks the model of its client.',
    inputSchema: takes({ prompt: { type: 'string', description: 'What to ask the model.' } }),
    run: async ({ prompt }, call) => {
      const { sampled } = await call.ask({ sampled: sample(prompt ?? '') });
      return `LLM response: ${said(sampled)}`;
    },
  },
  test_elicitation: {
    description: 'Asks the person who uses its client.',
    inputSchema: takes({ message: { type: 'string', description: 'What to ask the person.' } }),
    run: async ({ message }, call) => {
      const { answer } = await call.ask({
        answer: elicit(message ?? '', {
          username: { type: 'string', description: 'A name' },
          email: { type: 'string', description: 'A mail address' },
        }),
      });
      return `User response: ${told(answer)}`;
    },
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks with a default for each kind of field.',
    run: async (args, call) => {
      const { form } = await call.ask({
        form: elicit(
          'Please review these values.',
          {
            name: { type: 'string', default: 'John Doe' },
            age: { type: 'integer', default: 30 },
            score: { type: 'number', default: 95.5 },
            status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
            verified: { type: 'boolean', default: true },
          },
          [],
        ),
      });
      return `Elicitation completed: ${told(form)}`;
    },
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks with each kind of choice.',
    run: async (args, call) => {
      const options = ['option1', 'option2', 'option3'];
      const { form } = await call.ask({
        form: elicit(
          'Please choose.',
          {
            untitledSingle: { type: 'string', enum: options },
            titledSingle: {
              type: 'string',
              oneOf: titled({ value1: 'First Option', value2: 'Second Option', value3: 'Third Option' }),
            },
            legacyEnum: {
              type: 'string',
              enum: ['opt1', 'opt2', 'opt3'],
              enumNames: ['Option One', 'Option Two', 'Option Three'],
            },
            untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
            titledMulti: {
              type: 'array',
              items: {
                anyOf: titled({ value1: 'First Choice', value2: 'Second Choice', value3: 'Third Choice' }),
              },
            },
          },
          [],
        ),
      });
      return `Elicitation completed: ${told(form)}`;
    },
  },
  test_streaming_elicitation: {
    description: 'Tells its progress, then asks the person.',
    run: async (args, call) => {
      call.progress(0, 100);
      const { user_name: answer } = await call.ask({
        user_name: elicit('What is your name?', { name: { type: 'string' } }),
      });
      call.progress(100, 100);
      return `Hello, ${answer.content?.name ?? 'stranger'}!`;
    },
  },
  test_input_required_result_elicitation: {
    description: 'Asks the person for a name.',
    run: async (args, call) => {
      const { user_name: answer } = await call.ask({
        user_name: elicit('What is your name?', { name: { type: 'string' } }),
      });
      return `Hello, ${answer.content?.name ?? 'stranger'}!`;
    },
  },
  test_input_required_result_sampling: {
    description: 'Asks the model for a capital.',
    run: async (args, call) => {
      const { capital_question: answer } = await call.ask({
        capital_question: sample('What is the capital of France?'),
      });
      return `The model said: ${said(answer)}`;
    },
  },
  test_input_required_result_list_roots: {
    description: 'Asks for the roots.',
    run: async (args, call) => {
      const { client_roots: answer } = await call.ask({ client_roots: listRoots });
      return `Roots: ${answer.roots.map((root) => root.uri).join(', ')}`;
    },
  },
  test_input_required_result_request_state: {
    description: 'Asks for a confirmation, and wants its state back with it.',
    run: async (args, call) => {
      const { confirm } = await call.ask(
        { confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) },
        { withState: true },
      );
      return `state-ok, ${told(confirm)}`;
    },
  },
  test_input_required_result_multiple_inputs: {
    description: 'Asks the person, the model and for the roots at once.',
    run: async (args, call) => {
      const answers = await call.ask(
        {
          user_name: elicit('What is your name?', { name: { type: 'string' } }),
          greeting: sample('Generate a greeting', 50),
          client_roots: listRoots,
        },
        { withState: true },
      );
      const { user_name: name, greeting, client_roots: roots } = answers;
      return `${said(greeting)} ${name.content?.name ?? 'stranger'}, ${roots.roots.length} roots`;
    },
  },
  test_input_required_result_multi_round: {
    description: 'Asks twice, one after the other.',
    run: async (args, call) => {
      const { step1 } = await call.ask(
        { step1: elicit('Step 1: What is your name?', { name: { type: 'string' } }) },
        { withState: true },
      );
      const { step2 } = await call.ask(
        { step2: elicit('Step 2: What is your favorite color?', { color: { type: 'string' } }) },
        { withState: true },
      );
      return `${step1.content?.name ?? 'Somebody'} likes ${step2.content?.color ?? 'no color'}.`;
    },
  },
  test_input_required_result_tampered_state: {
    description: 'Asks for a confirmation, and refuses a state that is not its own.',
    run: async (args, call) => {
      const { confirm } = await call.ask(
        { confirm: elicit('Please confirm', { ok: { type: 'boolean' } }) },
        { withState: true },
      );
      return `Confirmed: ${told(confirm)}`;
    },
  },
  test_input_required_result_capabilities: {
    description: 'Asks only for what its client said that it can do.',
    run: async (args, call) => {
      const all = {
        user_name: elicit('What is your name?', { name: { type: 'string' } }),
        greeting: sample('Generate a greeting', 50),
        client_roots: listRoots,
      };
      const able = Object.entries(all).filter(([, request]) => call.can(request.method));
      if (able.length === 0) return 'The client can answer nothing.';
      const answers = await call.ask(Object.fromEntries(able));
      return `Answered: ${Object.keys(answers).join(', ')}`;
    },
  },
};
