/**
 * What a configuration may say: the one source of the types, the editor schema, the quick check and the messages.
 *
 * Loading this file costs 26 ms, a third of a whole start, so nothing imports it at run time except explain.ts,
 * which runs only when something is wrong. After a change here: `npm run generate`.
 *
 * Only what JSON Schema can say too (no refine, no transform): the quick check must agree to the letter. What else
 * must hold is in ../rules.ts.
 */
import { z } from 'zod';
import { LOG_LEVELS } from '../../shared/log.ts';
import { APPROVALS, DEFAULTS, EXPOSURES, KINDS, NAMINGS } from '../defaults.ts';

/** The longest time a Node timer can wait; a longer one would fire at once. */
const LONGEST_MS = 2_147_483_647;

const yesOrNo = z.boolean({ error: 'must be true or false' });
const filledText = (message = 'must be a text that is not empty') =>
  z.string({ error: message }).regex(/\S/u, { error: message });
const textList = z.array(z.string({ error: 'must be a text' }), { error: 'must be a list of texts' });
const wholeNumber = (what: string, least: number, most: number, advice = '') => {
  const error = `must be a whole number${what} from ${least} to ${most}${advice}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
};
const milliseconds = (advice = '') =>
  wholeNumber(' of milliseconds', 1, LONGEST_MS, `; 0 does not mean unlimited${advice}`);

export const serverName = z.string().regex(/^\P{Cc}{1,64}$/u, {
  error: 'a server name has 1 to 64 characters, none of them a control character',
});

/** A name that every host accepts for a tool. */
const toolName = (message = 'must be 1 to 64 of the characters A-Z a-z 0-9 _ -') =>
  z.string({ error: 'must be a text' }).regex(/^[A-Za-z0-9_-]{1,64}$/u, { error: message });

const suiteName = toolName().describe(
  'Name of the tool this server is shown as. Default: the server name followed by "_suite".',
);

const summaryMaxChars = wholeNumber(' of characters', 1, 1_000_000);

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
          original: filledText().describe("The tool's own name, not a pattern."),
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

const TOOL_SHAPES_ERROR =
  'must be an object of tool names and settings (a list of the only tools offered is "exposedTools")';

const toolShapes = z
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
        .array(filledText(), { error: 'must be a list of argument names' })
        .optional()
        .describe('Arguments that are never shown in a log.'),
    }),
    { error: TOOL_SHAPES_ERROR },
  )
  .describe("How single tools look, by the tool's own name.");

const exposure = z.enum(EXPOSURES);

const offer = z.array(z.enum(KINDS), { error: 'must be a list of "tools", "resources", "prompts"' });

const idleMs = z
  .union([milliseconds('; write "never" to keep it running'), z.literal('never')], {
    error: `must be a whole number of milliseconds from 1 to ${LONGEST_MS}, or "never"`,
  })
  .describe('A server unused for this many milliseconds is stopped; "never" keeps it running.');

const timeouts = {
  childSpawnMs: milliseconds().describe(
    'How long a server may take to start and answer initialize, in milliseconds.',
  ),
  rpcMs: milliseconds().describe(
    'How long a request may stay without an answer or progress, in milliseconds.',
  ),
  idleMs,
  drainMs: milliseconds().describe('How long running calls may still finish when we stop, in milliseconds.'),
  callMaxMs: milliseconds().describe('How long a call may take in all, even with progress, in milliseconds.'),
};

const serverTimeouts = z
  .strictObject(timeouts)
  .partial()
  .describe('Time limits for this server; what is left out comes from the top-level timeouts.');

const inheritEnv = z
  .union([z.boolean(), z.array(filledText())], {
    error: 'must be true, false or a list of variable names',
  })
  .describe(
    'Which of our environment variables a server gets: true all, false only the few every process needs, ' +
      'or a list of names (AWS_* is fine).',
  );

const env = z
  .record(
    z
      .string()
      .regex(/^[^=\0]+$/u, { error: 'the name of an environment variable is not empty and has no "="' }),
    z.union([z.string(), z.number(), z.boolean()], { error: 'must be a text, a number, true or false' }),
    { error: 'must be an object of variable names and values' },
  )
  .describe('Environment variables of the server. ${NAME} and ${NAME:-default} are filled in from ours.');

const args = textList.describe('Arguments of the command.');

const commandText = filledText('must be the program to start, for example "npx"');

const commandObject = {
  cmd: commandText.describe('The program to start.'),
  args: args.optional(),
  env: env.optional(),
};

const command = <T extends z.ZodObject>(objectForm: T) =>
  z
    .union([commandText, objectForm], {
      error: 'must be the program to start, for example "npx", or {"cmd", "args", "env"}',
    })
    .describe('The program to start.');

const shown = {
  description: z.string({ error: 'must be a text' }).optional().describe('What the server is for.'),
  switchboardDescription: z
    .string({ error: 'must be a text' })
    .optional()
    .describe('The whole description of the tool this server is shown as.'),
  disabled: yesOrNo.optional().describe('true leaves the server out.'),
};

/** What an entry and `suites` may both say about how a server is shown. */
const look = {
  suiteName: suiteName.optional(),
  expose: expose.optional(),
  summaryMaxChars: summaryMaxChars.optional().describe('Longest summary of a tool, in characters.'),
  exposure: exposure
    .optional()
    .describe(
      'How this server is shown: as one tool, with all its tools, or not at all. Default: as at the top.',
    ),
  offer: offer
    .optional()
    .describe('What of this server is offered, at least one of the three. Default: as at the top.'),
  exposedTools: exposedTools.optional(),
  hiddenTools: hiddenTools.optional(),
  tools: toolShapes.optional(),
};

const settable = { timeouts: serverTimeouts.optional(), ...look };

const started = {
  args: args.optional(),
  env: env.optional(),
  cwd: filledText()
    .optional()
    .describe("Working directory, relative to this file's directory, which is the default."),
  framing: z
    .enum(['auto', 'newline', 'content-length'])
    .optional()
    .describe(`How messages are told apart on the wire. Default "${DEFAULTS.framing}".`),
  inheritEnv: inheritEnv.optional(),
};

/** A server we start and talk to over its stdin and stdout. */
export const stdioServer = z.strictObject({
  type: z.literal('stdio').optional().describe('A server that is started as a program.'),
  command: command(z.strictObject(commandObject)),
  ...started,
  ...shown,
  ...settable,
});

/** A server that runs elsewhere. Recognised, not yet served. */
export const remoteServer = z.strictObject({
  type: z.enum(['http', 'sse', 'streamable-http']).optional().describe('The transport of a remote server.'),
  url: filledText().describe('Address of a remote server. Remote servers are not supported yet.'),
  headers: z.record(z.string(), z.string()).optional().describe('HTTP headers sent with every request.'),
  ...shown,
  ...settable,
});

/** An entry of a file that belongs to another program as well: what we know must be right, the rest is theirs. */
export const foreignServer = z.looseObject({
  type: z.enum(['stdio', 'local']).optional(),
  command: command(z.looseObject(commandObject)),
  ...started,
  ...shown,
  ...settable,
  // GitHub Copilot keeps a list of allowed tools under this key.
  tools: z.union([toolShapes, z.array(z.unknown())], { error: TOOL_SHAPES_ERROR }).optional(),
});

/** A `.mcp.json` that describes one server. Also tolerant: whoever wrote it need not know us. */
export const childFile = z.looseObject({
  name: serverName,
  command: command(z.looseObject(commandObject)).optional(),
  args: args.optional(),
  env: env.optional(),
  framing: started.framing,
  ...shown,
});

const suite = z
  .strictObject({
    description: z.string({ error: 'must be a text' }).optional().describe('Description of the tool.'),
    ...look,
  })
  .describe('How one server is shown.');

const compoundTool = z
  .strictObject({
    description: z.string({ error: 'must be a text' }).describe('What the tool is for.'),
    subtools: z
      .record(
        serverName,
        z.strictObject({
          tools: z
            .array(
              z.strictObject({
                name: filledText().describe("The tool's own name."),
                description: z
                  .string({ error: 'must be a text' })
                  .optional()
                  .describe('What it is for here. Default: its own description.'),
              }),
              { error: 'must be a list of {"name", "description"}' },
            )
            .describe('At least one tool of this server.'),
        }),
        { error: 'must be an object of server names and their tools' },
      )
      .describe('The tools it combines, by server name; at least one server.'),
  })
  .describe('One tool that stands for several tools of several servers.');

const management = z
  .union(
    [
      z.boolean(),
      z.strictObject({
        enabled: yesOrNo.default(true).describe('Whether the tools exist.'),
        approval: z
          .enum(APPROVALS)
          .default(DEFAULTS.management.approval)
          .describe('Whether a person is asked before a server is added: "ask", or "auto" for no.'),
        persist: yesOrNo
          .default(DEFAULTS.management.persist)
          .describe('Whether servers that are added or removed are also written to this file.'),
      }),
    ],
    { error: 'must be true, false or {"enabled", "approval", "persist"}' },
  )
  .describe(
    'Tools to add, remove, reload and list servers while the gateway runs. Whoever may add a server may run any ' +
      'program.',
  );

export const config = z
  .strictObject({
    $schema: z
      .string({ error: 'must be a text' })
      .optional()
      .describe('Where editors find the description of this file.'),
    discoverGlobs: z
      .array(filledText(), { error: 'must be a list of patterns' })
      .default([...DEFAULTS.discoverGlobs])
      .describe(
        "Patterns of .mcp.json files, relative to this file's directory; a leading ! takes files out. " +
          'Folders called "original" are never searched.',
      ),
    mcpServers: z
      .record(serverName, z.union([stdioServer, remoteServer]), {
        error: 'must be an object of server names and servers',
      })
      .optional()
      .describe('Servers by name, as in the configuration of MCP hosts.'),
    suites: z
      .record(z.string(), suite, { error: 'must be an object of server names and settings' })
      .default({})
      .describe('How servers are shown, by server name; wins over what the server itself says.'),
    exposure: exposure
      .default(DEFAULTS.exposure)
      .describe(
        'How servers are shown unless they say otherwise: "suite" as one tool each, "flat" with all their tools, ' +
          '"hidden" not at all.',
      ),
    naming: z
      .enum(NAMINGS)
      .default(DEFAULTS.naming)
      .describe(
        'Names of flat tools and prompts: "prefixed" server__tool, or "plain" the own name, with the server in the ' +
          'description.',
      ),
    offer: offer
      .default([...DEFAULTS.offer])
      .describe('What of the servers is offered, at least one of the three.'),
    tools: z
      .record(toolName('the name of a tool is 1 to 64 of the characters A-Z a-z 0-9 _ -'), compoundTool, {
        error: 'must be an object of tool names and tools',
      })
      .optional()
      .describe('Compound tools by name: each stands for several tools of several servers.'),
    instructions: z
      .strictObject({
        maxChars: wholeNumber(' of characters', 0, 100_000)
          .default(DEFAULTS.instructions.maxChars)
          .describe("How much of the servers' own instructions is passed on, in characters; 0: none."),
      })
      .prefault({})
      .describe("The servers' own instructions to the model."),
    management: management.default(DEFAULTS.management.enabled),
    timeouts: z
      .strictObject({
        childSpawnMs: timeouts.childSpawnMs.default(DEFAULTS.timeouts.childSpawnMs),
        rpcMs: timeouts.rpcMs.default(DEFAULTS.timeouts.rpcMs),
        idleMs: timeouts.idleMs.default(DEFAULTS.timeouts.idleMs),
        drainMs: timeouts.drainMs.default(DEFAULTS.timeouts.drainMs),
        callMaxMs: timeouts.callMaxMs.default(DEFAULTS.timeouts.callMaxMs),
      })
      .prefault({})
      .describe('Time limits for all servers, in milliseconds.'),
    introspection: z
      .strictObject({
        mode: z
          .enum(['summary', 'full', 'redacted'])
          .default(DEFAULTS.introspection.mode)
          .describe(
            'How much introspect tells: names, summaries and short signatures; everything; no signatures.',
          ),
        summaryMaxChars: summaryMaxChars
          .default(DEFAULTS.introspection.summaryMaxChars)
          .describe('Longest summary of a tool, in characters.'),
      })
      .prefault({})
      .describe('What the action "introspect" returns.'),
    inheritEnv: inheritEnv.default(DEFAULTS.inheritEnv),
    logLevel: z
      .enum(LOG_LEVELS)
      .default(DEFAULTS.logLevel)
      .describe('The least severe messages written to stderr.'),
    logDirectory: filledText()
      .optional()
      .describe("Log lines are also written to a file in this directory, relative to this file's directory."),
    logArguments: yesOrNo
      .default(DEFAULTS.logArguments)
      .describe('Whether debug messages show the arguments of calls, without presets and redacted ones.'),
    limits: z
      .strictObject({
        messageBytes: wholeNumber(' of bytes', 1024, 268_435_456)
          .default(DEFAULTS.limits.messageBytes)
          .describe('Longest message accepted from a server or a host, in bytes.'),
        callsInFlight: wholeNumber('', 1, 100_000)
          .default(DEFAULTS.limits.callsInFlight)
          .describe('Calls one server works on at the same time.'),
        callsQueued: wholeNumber('', 1, 1_000_000)
          .default(DEFAULTS.limits.callsQueued)
          .describe('Calls that wait for one server before further ones are refused.'),
      })
      .prefault({})
      .describe('Bounds that protect this process.'),
  })
  .describe('Configuration of Switchboard, the MCP gateway.');

/** A configuration as written: everything may be missing. */
export type ConfigInput = z.input<typeof config>;
/** A configuration with every default applied. */
export type ConfigOutput = z.output<typeof config>;
export type StdioServer = z.input<typeof stdioServer>;
export type RemoteServer = z.input<typeof remoteServer>;
export type ForeignServer = z.input<typeof foreignServer>;
export type ChildFile = z.input<typeof childFile>;
/** What an entry and `suites` may both say about how a server is shown. */
export type Look = Pick<StdioServer, keyof typeof look>;
