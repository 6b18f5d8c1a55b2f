/** What a configuration may say about one server. */
import { z } from 'zod';
import {
  APPROVE,
  BUILTINS,
  DEFAULTS,
  DPOP,
  EXPOSURES,
  GRANTS,
  ISOLATIONS,
  KINDS,
  LEAST_RESULT_TOKENS,
  PINS,
  PROVIDERS,
  SPLITS,
} from '../defaults.ts';
import { SIGNATURE_ALGORITHMS } from '../../shared/signature-algorithms.ts';
import {
  nonEmptyText,
  LONGEST_MS,
  milliseconds,
  textList,
  toolName,
  wholeNumber,
  yesOrNo,
} from './primitives.ts';

const suiteName = toolName().describe('Name of the suite. Default: the server name plus "_suite".');

export const summaryMaxChars = wholeNumber(' of characters', 1, 1_000_000);

const expose = z
  .strictObject({
    allow: textList
      .optional()
      .describe('Expose only tools that match one of these patterns (* ? [a-z] {a,b}).'),
    deny: textList.optional().describe('Hide tools that match one of these patterns.'),
  })
  .describe('Which tools of the server are exposed.');

const exposedTools = z
  .array(
    z.union(
      [
        z.string(),
        z.strictObject({
          original: nonEmptyText().describe("The tool's own name, not a pattern."),
          exposed: toolName().describe('Its new name.'),
        }),
      ],
      { error: 'must be the name or pattern of a tool, or {"original", "exposed"}' },
    ),
    { error: 'must be a list of tool names, patterns and {"original", "exposed"}' },
  )
  .describe('Expose only these tools, optionally renamed. Merged with expose.allow.');

const hiddenTools = textList.describe(
  'Hide tools that match one of these patterns. Merged with expose.deny.',
);

const results = z.union(
  [
    z.literal(false),
    z.strictObject({
      maxTokens: wholeNumber(' of tokens', LEAST_RESULT_TOKENS, 10_000_000)
        .optional()
        .describe(
          'Maximum length of the text of a tool result, in tokens (estimated). The beginning and the end of a longer ' +
            'text are passed on; the rest is kept and can be read. Default: no maximum.',
        ),
      minify: yesOrNo
        .optional()
        .describe('true removes whitespace from JSON, except inside strings. Default false.'),
    }),
  ],
  { error: 'must be false or {"maxTokens", "minify"}' },
);

export const resultsOfAll = results.describe('How long tool results may be. Default: passed on unchanged.');

const resultsOfServer = results.describe(
  'How long the results of this server may be; false: no limit. Default: the top-level values.',
);

export const TOOL_SHAPES_ERROR =
  'must be an object of settings by tool name (for a list of tools to expose, use "exposedTools")';

export const toolShapes = z
  .record(
    z.string(),
    z.strictObject({
      name: toolName().optional().describe('Its new name.'),
      description: z.string({ error: 'must be a string' }).optional().describe('Its new description.'),
      presets: z
        .record(z.string(), z.unknown(), { error: 'must be an object of values by argument name' })
        .optional()
        .describe(
          "Fixed arguments, which the model neither sees nor sets. ${NAME} is replaced from Switchboard's environment.",
        ),
      redact: z
        .array(nonEmptyText(), { error: 'must be a list of argument names' })
        .optional()
        .describe('Arguments that are never logged.'),
      approve: yesOrNo
        .optional()
        .describe("Whether to ask the user before it runs. Default: the server's approve."),
      results: results
        .optional()
        .describe("How long the tool's results may be; false: no limit. Default: the server's values."),
    }),
    { error: TOOL_SHAPES_ERROR },
  )
  .describe("Settings for individual tools, by the tool's own name.");

export const exposure = z.enum(EXPOSURES);

export const offer = z.array(z.enum(KINDS), { error: 'must be a list of "tools", "resources", "prompts"' });

const idleMs = z
  .union([milliseconds('; write "never" to keep it running'), z.literal('never')], {
    error: `must be a whole number of milliseconds from 1 to ${LONGEST_MS}, or "never"`,
  })
  .describe('Stop a server after this many milliseconds without use; "never" keeps it running.');

export const timeouts = {
  childSpawnMs: milliseconds().describe(
    'Time for a server to start and respond to initialize, in milliseconds. Default for remote ' +
      'servers: 8000.',
  ),
  rpcMs: milliseconds().describe('Time for a request without a response or progress, in milliseconds.'),
  idleMs,
  drainMs: milliseconds().describe(
    'Time for running calls to finish when Switchboard stops, in milliseconds.',
  ),
  callMaxMs: milliseconds().describe('Total time for a call, even with progress, in milliseconds.'),
};

/** Applies to the whole configuration, not to one server. */
export const firstListMs = wholeNumber(' of milliseconds', 0, LONGEST_MS).describe(
  'Time the first tools/list waits for servers that are still starting, in milliseconds; 0: none.',
);

export const hookMs = milliseconds().describe(
  'Time limit for a hook of a JavaScript configuration, in milliseconds.',
);

const serverTimeouts = z
  .strictObject(timeouts)
  .partial()
  .describe('Time limits for this server; default: the top-level timeouts.');

export const inheritEnv = z
  .union([z.boolean(), z.array(nonEmptyText())], {
    error: 'must be true, false or a list of variable names',
  })
  .describe(
    'Environment variables that a server inherits: true (all), false (only basic ones such as PATH) ' +
      'or a list of names (AWS_* is allowed).',
  );

export const env = z
  .record(
    z
      .string()
      .regex(/^[^=\0]+$/u, { error: 'the name of an environment variable must not be empty or contain "="' }),
    z.union([z.string(), z.number(), z.boolean()], { error: 'must be a string, a number, true or false' }),
    { error: 'must be an object of values by variable name' },
  )
  .describe(
    "Environment variables of the server. ${NAME} and ${NAME:-default} are replaced from Switchboard's environment.",
  );

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
  description: z.string({ error: 'must be a string' }).optional().describe('What the server is for.'),
  switchboardDescription: z
    .string({ error: 'must be a string' })
    .optional()
    .describe('The complete description of the suite.'),
  disabled: yesOrNo.optional().describe('true disables the server.'),
};

export const approve = z
  .union([z.literal(false), z.enum(APPROVE), textList], {
    error: 'must be "destructive", "all", a list of tool patterns, or false',
  })
  .describe(
    'Ask the user before a tool runs: "destructive" (tools not annotated as read-only or not destructive), "all", a list of tool ' +
      'patterns, or false. Default false.',
  );

export const pin = z
  .enum(PINS)
  .describe(
    'What to do when a server changes its tools after they were first used: "warn" (log it), "block" (do not run the ' +
      'changed tool until it is approved with `switchboard trust`) or "off".',
  );

export const suiteForm = z
  .strictObject({
    split: z
      .enum(SPLITS)
      .optional()
      .describe(
        '"effect": two tools per server, one that only reads and one for the rest, so that a host can allow the first without ' +
          'asking. Default: one tool.',
      ),
  })
  .describe('Settings for suites.');

/** What both an entry and `suites` may say about how a server is exposed. */
export const presentation = {
  suiteName: suiteName.optional(),
  suite: suiteForm.optional(),
  approve: approve.optional(),
  expose: expose.optional(),
  summaryMaxChars: summaryMaxChars.optional().describe('Maximum length of a tool summary, in characters.'),
  exposure: exposure
    .optional()
    .describe(
      'How this server is exposed: "suite", "flat", "search", "code" or "hidden". Default: the top-level value.',
    ),
  offer: offer.optional().describe('What this server may offer; at least one. Default: the top-level value.'),
  exposedTools: exposedTools.optional(),
  hiddenTools: hiddenTools.optional(),
  tools: toolShapes.optional(),
  results: resultsOfServer.optional(),
};

export const isolation = z.enum(ISOLATIONS);

// No flags except u, because the editor schema cannot express others.
const webAddress = (pattern: RegExp, begins: string) => {
  const error = `must be a URL that starts with ${begins}`;
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
            'Name of the model; "host": the client\'s own. Default: SWITCHBOARD_LANGUAGE_MODEL, ' +
              'otherwise depends on the API keys, otherwise "host".',
          ),
        provider: z
          .enum(PROVIDERS)
          .optional()
          .describe('API of the model; "openai": any compatible API. Default: from the model\'s name.'),
        baseUrl: address
          .optional()
          .describe(
            "Address of the model. Default: SWITCHBOARD_LANGUAGE_BASE_URL, otherwise its provider's.",
          ),
        apiKey: nonEmptyText()
          .optional()
          .describe('API key, better as ${NAME}. Default: ANTHROPIC_API_KEY or OPENAI_API_KEY.'),
        instructions: nonEmptyText().optional().describe('Instructions for the model.'),
        instructionsFile: nonEmptyText()
          .optional()
          .describe(
            "A file with the instructions, relative to this file's directory; read for every request. Overrides instructions.",
          ),
        allowDestructive: yesOrNo
          .optional()
          .describe('Run tools that declare themselves destructive without asking. Default false.'),
        maxSteps: wholeNumber('', 1, 1000)
          .optional()
          .describe(`Turns of the model per request. Default ${DEFAULTS.language.maxSteps}.`),
        maxTokens: wholeNumber(' of tokens', 1, 1_000_000_000)
          .optional()
          .describe(`Tokens per request, input and output together. Default ${DEFAULTS.language.maxTokens}.`),
        timeoutMs: milliseconds()
          .optional()
          .describe(`Time per request, in milliseconds. Default ${DEFAULTS.language.timeoutMs}.`),
      }),
    ],
    { error: 'must be true, false or an object such as {"model": …, "instructions": …}' },
  )
  .describe('Puts a language model in front of this server, which then has one tool, natural_language.');

export const serverSettings = {
  timeouts: serverTimeouts.optional(),
  isolation: isolation
    .optional()
    .describe(
      'Who shares a process of this server: "session" (one process per client), "shared" (one for all clients) or ' +
        '"call" (one for each tool call). Default: the top-level value.',
    ),
  maxProcesses: wholeNumber('', 1, 100_000)
    .optional()
    .describe('Maximum number of processes of this server, for all clients together. Default: no limit.'),
  language: language.optional(),
  pin: pin.optional(),
  ...presentation,
};

const pathList = z.array(nonEmptyText(), { error: 'must be a list of paths' });

export const launchSettings = {
  args: args.optional(),
  env: env.optional(),
  envFile: nonEmptyText()
    .optional()
    .describe(
      "A dotenv file with more variables for the server, relative to this file's directory; env overrides it.",
    ),
  cwd: nonEmptyText()
    .optional()
    .describe("Working directory, relative to this file's directory. Default: that directory."),
  framing: z
    .enum(['auto', 'newline', 'content-length'])
    .optional()
    .describe(`How messages are separated on the wire. Default "${DEFAULTS.framing}".`),
  sandbox: z
    .union(
      [
        z.boolean(),
        z.strictObject({
          write: pathList
            .optional()
            .describe(
              "Files and directories it may change, relative to this file's directory. Default none.",
            ),
          read: pathList
            .optional()
            .describe(
              'Files and directories in /tmp and /run that it may read, besides its working directory. Default none.',
            ),
          hide: pathList
            .optional()
            .describe(
              "Files and directories that it cannot read. It never reads Switchboard's tokens, logins and secrets.",
            ),
          network: yesOrNo.optional().describe('true gives it full network access. Default false.'),
        }),
      ],
      { error: 'must be true, false or {"write", "read", "hide", "network"}' },
    )
    .optional()
    .describe(
      'Linux: start the server with bwrap, with a read-only file system, no network and only its own processes.',
    ),
  inheritEnv: inheritEnv.optional(),
  stopFirst: yesOrNo
    .optional()
    .describe(
      'true stops the old process before a reload starts the new one, for a server that cannot run twice, for ' +
        'example because of a fixed port. Default false.',
    ),
};

/** A server that we start and reach over its stdin and stdout. */
export const stdioServer = z.strictObject({
  type: z.literal('stdio').optional().describe('A server that runs as a local program.'),
  command: command(z.strictObject(commandObject)),
  ...launchSettings,
  ...descriptive,
  ...serverSettings,
});

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u, {
  error: "a header name may contain only letters, digits and the characters ! # $ % & ' * + - . ^ _ ` | ~",
});

export const headers = z
  .record(
    headerName,
    z.string({ error: 'must be a string' }).regex(/^[\t\u0020-\u007E\u0080-\u00FF]*$/u, {
      error: 'contains a character that is not allowed in a header',
    }),
    { error: 'must be an object of strings by header name' },
  )
  .describe(
    "HTTP headers sent with every request. ${NAME} and ${NAME:-default} are replaced from Switchboard's environment.",
  );

export const oauthSettings = {
  clientId: nonEmptyText()
    .optional()
    .describe('The client ID the service gave you. Default: registered automatically.'),
  clientSecret: nonEmptyText().optional().describe('Its secret, better as ${NAME}.'),
  clientMetadataUrl: webAddress(/^[Hh][Tt][Tt][Pp][Ss]:\/\/|\$\{/u, 'https://')
    .optional()
    .describe('The URL of a document that describes the client; the URL is the client ID.'),
  scope: nonEmptyText().optional().describe('The scopes to request, separated by spaces.'),
  callbackPort: wholeNumber('', 1, 65_535)
    .optional()
    .describe('Local port that the browser returns to after a login. Default: any free port.'),
  dpop: z
    .enum(DPOP, { error: 'must be "auto", "required" or "off"' })
    .optional()
    .describe(
      'Whether to bind tokens to a key (DPoP). "auto" (default): if the server asks for it and its issuer supports it.',
    ),
  grant: z
    .enum(GRANTS, { error: 'must be "client_credentials", "jwt_bearer" or "token_exchange"' })
    .optional()
    .describe('How Switchboard logs in as a service. Default: a person logs in (`switchboard auth`).'),
  issuer: nonEmptyText()
    .optional()
    .describe('With "grant": the only issuer that gets the secret. Default: the one that the server names.'),
  privateKey: nonEmptyText()
    .optional()
    .describe(
      'With "grant": a private key (PKCS #8, PEM) in place of clientSecret, better as ${secret:NAME}.',
    ),
  keyAlgorithm: z
    .enum(SIGNATURE_ALGORITHMS)
    .optional()
    .describe('The signature algorithm of the key. Default ES256.'),
  keyId: nonEmptyText().optional().describe('The ID of the key (kid). Default: none is sent.'),
  assertion: nonEmptyText()
    .optional()
    .describe(
      'With "jwt_bearer": the JWT to exchange for a token; with "token_exchange": the ID token of the user. Better as ${NAME}.',
    ),
  identityProvider: z
    .strictObject({
      tokenEndpoint: address.describe('The URL of its token endpoint.'),
      clientId: nonEmptyText()
        .optional()
        .describe('The client ID of Switchboard there. Default: none is sent.'),
      clientSecret: nonEmptyText().optional().describe('Its secret, better as ${NAME}.'),
    })
    .optional()
    .describe(
      'With "token_exchange": the company\'s identity provider, which exchanges the ID token for a grant that the issuer of the server accepts.',
    ),
};

export const oauth = <T extends z.ZodObject>(objectForm: T) =>
  z
    .union([z.literal(false), objectForm], {
      error:
        'must be false or an object with "clientId", "clientSecret", "clientMetadataUrl", "scope", "callbackPort" or "grant"',
    })
    .describe('How to log in to the server (`switchboard auth`); false disables logins.');

/** A part of this program that is exposed like a server. */
export const builtinServer = z.strictObject({
  builtin: z
    .enum(BUILTINS)
    .describe('A server built into this program: "switchyard", for the services of a project.'),
  project: nonEmptyText()
    .optional()
    .describe(
      "The project it controls: a path, relative to this file's directory, or the name of a project registered " +
        "with `switchyard mcp install`. Default: this file's directory. ${NAME} is replaced from Switchboard's environment.",
    ),
  ...descriptive,
  ...presentation,
});

/** A remote server, reached over HTTP. */
export const remoteServer = z.strictObject({
  type: z
    .enum(['auto', 'http', 'sse', 'streamable-http'])
    .optional()
    .describe(
      'Transport: "http" (also "streamable-http"), the older "sse", or "auto" (default), ' +
        'which tries both.',
    ),
  url: address.describe("URL of the server. ${NAME} is replaced from Switchboard's environment."),
  headers: headers.optional(),
  oauth: oauth(z.strictObject(oauthSettings)).optional(),
  ...descriptive,
  ...serverSettings,
});
