/**
 * What a configuration may say: the one source of the types, the editor schema, the quick check and the messages.
 *
 * Loading this file costs 26 ms, a third of a whole start, so nothing imports it at run time except explain.ts,
 * which runs only when something is wrong. After a change here or in the files beside it: `npm run generate`.
 *
 * Only what JSON Schema can say too (no refine, no transform): the quick check must agree to the letter. What else
 * must hold is in ../rules.ts.
 */
import { z } from 'zod';
import { LOG_LEVELS } from '../../shared/log.ts';
import { APPROVALS, DEFAULTS, NAMINGS } from '../defaults.ts';
import {
  builtinServer,
  exposure,
  firstListMs,
  inheritEnv,
  isolation,
  presentation,
  offer,
  remoteServer,
  stdioServer,
  summaryMaxChars,
  timeouts,
} from './server.ts';
import { nonEmptyText, milliseconds, serverName, toolName, wholeNumber, yesOrNo } from './primitives.ts';

export { builtinServer, remoteServer, serverName, stdioServer };

/** One entry of `mcpServers`. */
export const server = z.union([stdioServer, remoteServer, builtinServer]);

const suite = z
  .strictObject({
    description: z.string({ error: 'must be a text' }).optional().describe('Description of the tool.'),
    ...presentation,
  })
  .describe('How one server is exposed.');

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
                name: nonEmptyText().describe("The tool's own name."),
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
  .describe('One tool that combines tools of several servers.');

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
    'Tools to add, remove, reload and list servers while the gateway runs. Anyone who can add a server can run any ' +
      'program.',
  );

const http = z
  .strictObject({
    token: nonEmptyText()
      .optional()
      .describe(
        'What clients have to send as a bearer token: 16 characters or more, better as ${NAME}. ' +
          'Default: SWITCHBOARD_HTTP_TOKEN, else one is made.',
      ),
    allowedHosts: z
      .array(
        z
          .string({ error: 'must be a text' })
          .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[^\s/:@?#[\]]+)(?::[0-9]{1,5})?$/u, {
            error: 'must be a host such as "example.com" or "example.com:8080"',
          }),
        { error: 'must be a list of hosts' },
      )
      .default([])
      .describe('Names under which clients may reach us, besides those of this machine itself.'),
    allowedOrigins: z
      .array(
        z.string({ error: 'must be a text' }).regex(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s/?#@]+$/u, {
          error: 'must be an origin such as "https://example.com", without a path',
        }),
        { error: 'must be a list of origins' },
      )
      .default([])
      .describe(
        'Origins that clients may send. Pages in a browser cannot connect in any case: CORS is not supported.',
      ),
    maxSessions: wholeNumber('', 1, 100_000)
      .default(DEFAULTS.http.maxSessions)
      .describe('How many clients may be connected at the same time.'),
    sessionIdleMs: milliseconds()
      .default(DEFAULTS.http.sessionIdleMs)
      .describe('A client that is silent for this many milliseconds is forgotten.'),
    maxProcesses: wholeNumber('', 1, 100_000)
      .default(DEFAULTS.http.maxProcesses)
      .describe('How many servers may run for all clients together.'),
  })
  .describe('Settings for clients that connect over HTTP (`switchboard --http`).');

export const config = z
  .strictObject({
    $schema: z
      .string({ error: 'must be a text' })
      .optional()
      .describe('Where editors find the description of this file.'),
    extends: yesOrNo
      .optional()
      .describe("In a project's file, false leaves out the user's own configuration. Default true."),
    allowProjects: z
      .array(nonEmptyText(), { error: 'must be a list of folders' })
      .optional()
      .describe(
        'In the user\'s own file: folders whose projects are used without asking, for example "~/src/**". Default none.',
      ),
    discoverGlobs: z
      .array(nonEmptyText(), { error: 'must be a list of patterns' })
      .default([...DEFAULTS.discoverGlobs])
      .describe(
        "Patterns of .mcp.json files, relative to this file's directory; a leading ! takes files out. " +
          'Folders called "original" are never searched.',
      ),
    mcpServers: z
      .record(serverName, server, {
        error: 'must be an object of server names and servers',
      })
      .optional()
      .describe('Servers by name, as in the configuration of MCP hosts.'),
    suites: z
      .record(z.string(), suite, { error: 'must be an object of server names and settings' })
      .default({})
      .describe('How servers are exposed, by server name; overrides the settings of the server itself.'),
    exposure: exposure
      .default(DEFAULTS.exposure)
      .describe(
        'How servers are exposed by default: "suite" as one tool each, "flat" with all their tools, ' +
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
      .describe('Compound tools by name: each combines tools of several servers.'),
    instructions: z
      .strictObject({
        maxChars: wholeNumber(' of characters', 0, 100_000)
          .default(DEFAULTS.instructions.maxChars)
          .describe("How much of the servers' own instructions is passed on, in characters; 0: none."),
      })
      .prefault({})
      .describe("The servers' own instructions to the model."),
    isolation: isolation
      .default(DEFAULTS.isolation)
      .describe(
        'Where several clients are connected: "session" gives each its own servers, "shared" the same to all.',
      ),
    http: http.prefault({}),
    management: management.default(DEFAULTS.management.enabled),
    timeouts: z
      .strictObject({
        childSpawnMs: timeouts.childSpawnMs.default(DEFAULTS.timeouts.childSpawnMs),
        rpcMs: timeouts.rpcMs.default(DEFAULTS.timeouts.rpcMs),
        idleMs: timeouts.idleMs.default(DEFAULTS.timeouts.idleMs),
        drainMs: timeouts.drainMs.default(DEFAULTS.timeouts.drainMs),
        callMaxMs: timeouts.callMaxMs.default(DEFAULTS.timeouts.callMaxMs),
        firstListMs: firstListMs.default(DEFAULTS.timeouts.firstListMs),
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
    logDirectory: nonEmptyText()
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
export type BuiltinServer = z.input<typeof builtinServer>;
export type ServerEntry = z.input<typeof server>;
/** What an entry and `suites` may both say about how a server is shown. */
export type PresentationSettings = Pick<StdioServer, keyof typeof presentation>;
