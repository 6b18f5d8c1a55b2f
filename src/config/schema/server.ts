/** What a configuration may say about one server. */
import { z } from 'zod';
import { BUILTINS, DEFAULTS, EXPOSURES, ISOLATIONS, KINDS, PROVIDERS } from '../defaults.ts';
import {
  nonEmptyText,
  LONGEST_MS,
  milliseconds,
  textList,
  toolName,
  wholeNumber,
  yesOrNo,
} from './primitives.ts';

const suiteName = toolName().describe(
  'Name of the tool this server is exposed as. Default: the server name followed by "_suite".',
);

export const summaryMaxChars = wholeNumber(' of characters', 1, 1_000_000);

const expose = z
  .strictObject({
    allow: textList
      .optional()
      .describe('Only tools whose name matches one of these patterns (* ? [a-z] {a,b}) are offered.'),
    deny: textList.optional().describe('Tools whose name matches one of these patterns are not offered.'),
  })
  .describe('Which tools of the server are offered.');

const exposedTools = z
  .array(
    z.union(
      [
        z.string(),
        z.strictObject({
          original: nonEmptyText().describe("The tool's own name, not a pattern."),
          exposed: toolName().describe('The name it is offered under.'),
        }),
      ],
      { error: 'must be the name or pattern of a tool, or {"original", "exposed"}' },
    ),
    { error: 'must be a list of tool names, patterns and {"original", "exposed"}' },
  )
  .describe('Only these tools are offered, some under another name. Joined with expose.allow.');

const hiddenTools = textList.describe(
  'Tools whose name matches one of these patterns are not offered. Joined with expose.deny.',
);

export const TOOL_SHAPES_ERROR =
  'must be an object of tool names and settings (a list of the only tools offered is "exposedTools")';

export const toolShapes = z
  .record(
    z.string(),
    z.strictObject({
      name: toolName().optional().describe('The name it is offered under.'),
      description: z
        .string({ error: 'must be a text' })
        .optional()
        .describe('The description it is offered with.'),
      presets: z
        .record(z.string(), z.unknown(), { error: 'must be an object of argument names and values' })
        .optional()
        .describe(
          'Arguments with a fixed value: the model neither sees nor sets them. ${NAME} is filled in from our environment.',
        ),
      redact: z
        .array(nonEmptyText(), { error: 'must be a list of argument names' })
        .optional()
        .describe('Arguments that are never logged.'),
    }),
    { error: TOOL_SHAPES_ERROR },
  )
  .describe("How single tools look, by the tool's own name.");

export const exposure = z.enum(EXPOSURES);

export const offer = z.array(z.enum(KINDS), { error: 'must be a list of "tools", "resources", "prompts"' });

const idleMs = z
  .union([milliseconds('; write "never" to keep it running'), z.literal('never')], {
    error: `must be a whole number of milliseconds from 1 to ${LONGEST_MS}, or "never"`,
  })
  .describe('A server unused for this many milliseconds is stopped; "never" keeps it running.');

export const timeouts = {
  childSpawnMs: milliseconds().describe(
    'How long a server may take to start and respond to initialize, in milliseconds. Without it, a server that is ' +
      'reached by an address has 8000.',
  ),
  rpcMs: milliseconds().describe(
    'How long a request may go without a response or progress, in milliseconds.',
  ),
  idleMs,
  drainMs: milliseconds().describe('How long running calls may still finish when we stop, in milliseconds.'),
  callMaxMs: milliseconds().describe('How long a call may take in all, even with progress, in milliseconds.'),
};

/** Not about one server. */
export const firstListMs = wholeNumber(' of milliseconds', 0, LONGEST_MS).describe(
  'How long the first tools/list waits for servers that are still starting, in milliseconds; 0: not at all.',
);

const serverTimeouts = z
  .strictObject(timeouts)
  .partial()
  .describe('Time limits for this server; what is left out comes from the top-level timeouts.');

export const inheritEnv = z
  .union([z.boolean(), z.array(nonEmptyText())], {
    error: 'must be true, false or a list of variable names',
  })
  .describe(
    'Which of our environment variables a server gets: true all, false only the few every process needs, ' +
      'or a list of names (AWS_* is fine).',
  );

export const env = z
  .record(
    z
      .string()
      .regex(/^[^=\0]+$/u, { error: 'the name of an environment variable is not empty and has no "="' }),
    z.union([z.string(), z.number(), z.boolean()], { error: 'must be a text, a number, true or false' }),
    { error: 'must be an object of variable names and values' },
  )
  .describe('Environment variables of the server. ${NAME} and ${NAME:-default} are filled in from ours.');

export const args = textList.describe('Arguments of the command.');

const commandText = nonEmptyText('must be the program to start, for example "npx"');

export const commandObject = {
  cmd: commandText.describe('The program to start.'),
  args: args.optional(),
  env: env.optional(),
};

export const command = <T extends z.ZodObject>(objectForm: T) =>
  z
    .union([commandText, objectForm], {
      error: 'must be the program to start, for example "npx", or {"cmd", "args", "env"}',
    })
    .describe('The program to start.');

export const descriptive = {
  description: z.string({ error: 'must be a text' }).optional().describe('What the server is for.'),
  switchboardDescription: z
    .string({ error: 'must be a text' })
    .optional()
    .describe('The whole description of the tool this server is exposed as.'),
  disabled: yesOrNo.optional().describe('true leaves the server out.'),
};

/** What an entry and `suites` may both say about how a server is shown. */
export const presentation = {
  suiteName: suiteName.optional(),
  expose: expose.optional(),
  summaryMaxChars: summaryMaxChars.optional().describe('Longest summary of a tool, in characters.'),
  exposure: exposure
    .optional()
    .describe(
      'How this server is exposed: as one tool, with all its tools, or not at all. Default: as at the top.',
    ),
  offer: offer
    .optional()
    .describe('What of this server is offered, at least one of the three. Default: as at the top.'),
  exposedTools: exposedTools.optional(),
  hiddenTools: hiddenTools.optional(),
  tools: toolShapes.optional(),
};

export const isolation = z.enum(ISOLATIONS);

// No flags but u: the editor schema cannot say them.
const webAddress = (pattern: RegExp, begins: string) => {
  const error = `must be an address that begins with ${begins}`;
  return z.string({ error }).regex(pattern, { error });
};
export const address = webAddress(/^[Hh][Tt][Tt][Pp][Ss]?:\/\/|\$\{/u, 'http:// or https://');

const language = z
  .union(
    [
      yesOrNo,
      z.strictObject({
        model: nonEmptyText()
          .optional()
          .describe(
            'The model, as its provider calls it; "host": the one of the client. Default: SWITCHBOARD_LANGUAGE_MODEL, ' +
              'else by the keys there are, else "host".',
          ),
        provider: z
          .enum(PROVIDERS)
          .optional()
          .describe(
            'Whose model it is; "openai": any provider with a compatible API. Default: by the model\'s name.',
          ),
        baseUrl: address
          .optional()
          .describe('Where the model is reached. Default: SWITCHBOARD_LANGUAGE_BASE_URL, else its provider.'),
        apiKey: nonEmptyText()
          .optional()
          .describe(
            'The key for the model, better as ${NAME}. Default: ANTHROPIC_API_KEY or OPENAI_API_KEY.',
          ),
        instructions: nonEmptyText().optional().describe('Instructions for the model.'),
        instructionsFile: nonEmptyText()
          .optional()
          .describe(
            "A file with the instructions, relative to this file's directory; read for every request. Wins over instructions.",
          ),
        allowDestructive: yesOrNo
          .optional()
          .describe(
            'Whether tools that say they may destroy something run without a person being asked. Default false.',
          ),
        maxSteps: wholeNumber('', 1, 1000)
          .optional()
          .describe(
            `How often the model may be asked for one request. Default ${DEFAULTS.language.maxSteps}.`,
          ),
        maxTokens: wholeNumber(' of tokens', 1, 1_000_000_000)
          .optional()
          .describe(`How many tokens one request may cost. Default ${DEFAULTS.language.maxTokens}.`),
        timeoutMs: milliseconds()
          .optional()
          .describe(
            `How long one request may take, in milliseconds. Default ${DEFAULTS.language.timeoutMs}.`,
          ),
      }),
    ],
    { error: 'must be true, false or {"model", "instructions", …}, none of them needed' },
  )
  .describe(
    'Puts a language model in front of this server: it is exposed as one tool, natural_language, that takes natural language.',
  );

export const serverSettings = {
  timeouts: serverTimeouts.optional(),
  isolation: isolation
    .optional()
    .describe(
      'Where several clients are connected: "session" gives each a server of its own, "shared" one to all. ' +
        'Default: as at the top.',
    ),
  language: language.optional(),
  ...presentation,
};

export const launchSettings = {
  args: args.optional(),
  env: env.optional(),
  envFile: nonEmptyText()
    .optional()
    .describe(
      "A dotenv file with more variables for the server, relative to this file's directory; what env says wins.",
    ),
  cwd: nonEmptyText()
    .optional()
    .describe("Working directory, relative to this file's directory, which is the default."),
  framing: z
    .enum(['auto', 'newline', 'content-length'])
    .optional()
    .describe(`How messages are separated on the wire. Default "${DEFAULTS.framing}".`),
  inheritEnv: inheritEnv.optional(),
};

/** A server we start and talk to over its stdin and stdout. */
export const stdioServer = z.strictObject({
  type: z.literal('stdio').optional().describe('A server that is started as a program.'),
  command: command(z.strictObject(commandObject)),
  ...launchSettings,
  ...descriptive,
  ...serverSettings,
});

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u, {
  error: "the name of a header has only letters, digits and the characters ! # $ % & ' * + - . ^ _ ` | ~",
});

export const headers = z
  .record(
    headerName,
    z.string({ error: 'must be a text' }).regex(/^[\t\u0020-\u007E\u0080-\u00FF]*$/u, {
      error: 'contains a character that is not allowed in a header',
    }),
    { error: 'must be an object of header names and texts' },
  )
  .describe(
    'HTTP headers sent with every request. ${NAME} and ${NAME:-default} are filled in from our environment.',
  );

export const oauthSettings = {
  clientId: nonEmptyText()
    .optional()
    .describe('The client registered for us. Default: we register ourselves.'),
  clientSecret: nonEmptyText().optional().describe('Its secret, better as ${NAME}.'),
  clientMetadataUrl: webAddress(/^[Hh][Tt][Tt][Pp][Ss]:\/\/|\$\{/u, 'https://')
    .optional()
    .describe('The URL of a document that describes us as a client; the URL is the client id.'),
  scope: nonEmptyText().optional().describe('The scopes to request, separated by spaces.'),
  callbackPort: wholeNumber('', 1, 65_535)
    .optional()
    .describe('The port the browser comes back to at the end of a login. Default: any that is free.'),
};

export const oauth = <T extends z.ZodObject>(objectForm: T) =>
  z
    .union([z.literal(false), objectForm], {
      error:
        'must be false or {"clientId", "clientSecret", "clientMetadataUrl", "scope", "callbackPort"}, none of them needed',
    })
    .describe('How a login works where the server asks for one (`switchboard auth`); false disables it.');

/** A part of this program that is shown like a server. */
export const builtinServer = z.strictObject({
  builtin: z
    .enum(BUILTINS)
    .describe(
      'A server that comes with this program and needs no process: "switchyard", for the services of a project.',
    ),
  project: nonEmptyText()
    .optional()
    .describe(
      "The project it is for: a path, relative to this file's directory, or the name of a project that was registered " +
        "with `switchyard mcp install`. Default: this file's directory. ${NAME} is filled in from our environment.",
    ),
  ...descriptive,
  ...presentation,
});

/** A server that runs elsewhere and is reached over HTTP. */
export const remoteServer = z.strictObject({
  type: z
    .enum(['auto', 'http', 'sse', 'streamable-http'])
    .optional()
    .describe(
      'How a server is reached: "http" (also called "streamable-http"), the older "sse", or "auto", the default, ' +
        'which tries both.',
    ),
  url: address.describe('Address of the server. ${NAME} is filled in from our environment.'),
  headers: headers.optional(),
  oauth: oauth(z.strictObject(oauthSettings)).optional(),
  ...descriptive,
  ...serverSettings,
});
