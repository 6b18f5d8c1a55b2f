/**
 * The configuration schema: the only source of the types, the editor schema, the quick check and the messages.
 *
 * Loading this file takes 26 ms, a third of a whole start, so nothing imports it at run time except explain.ts, which
 * runs only when something is wrong. After a change here or in the files beside it: `npm run generate`.
 *
 * Use only what JSON Schema can express, too (no refine, no transform): the quick check must agree exactly. All other
 * rules are in ../rules.ts.
 */
import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '../../shared/log.ts';
import { APPROVALS, DEFAULTS, NAMINGS } from '../defaults.ts';
import { httpOAuth, roles } from './access.ts';
import {
  approve,
  builtinServer,
  exposure,
  firstListMs,
  hookMs,
  inheritEnv,
  isolation,
  presentation,
  offer,
  pin,
  remoteServer,
  resultsOfAll,
  stdioServer,
  suiteForm,
  summaryMaxChars,
  timeouts,
} from './server.ts';
import {
  nonEmptyText,
  milliseconds,
  serverName,
  textList,
  toolName,
  wholeNumber,
  yesOrNo,
} from './primitives.ts';

export { builtinServer, remoteServer, serverName, stdioServer };

/** One entry of `mcpServers`. */
export const server = z.union([stdioServer, remoteServer, builtinServer]);

const suite = z
  .strictObject({
    description: z.string({ error: 'must be a string' }).optional().describe('Description of the tool.'),
    ...presentation,
  })
  .describe('How a server is exposed.');

const compoundTool = z
  .strictObject({
    description: z.string({ error: 'must be a string' }).describe('What the tool is for.'),
    subtools: z
      .record(
        serverName,
        z.strictObject({
          tools: z
            .array(
              z.strictObject({
                name: nonEmptyText().describe("The tool's own name."),
                description: z
                  .string({ error: 'must be a string' })
                  .optional()
                  .describe('Its description in this tool. Default: its own.'),
              }),
              { error: 'must be a list of {"name", "description"}' },
            )
            .describe('Tools of this server; at least one.'),
        }),
        { error: 'must be an object of tools by server name' },
      )
      .describe('The combined tools by server name; at least one server.'),
  })
  .describe('A tool that combines tools of several servers.');

const management = z
  .union(
    [
      z.boolean(),
      z.strictObject({
        enabled: yesOrNo.default(true).describe('Whether the tools are offered.'),
        approval: z
          .enum(APPROVALS)
          .default(DEFAULTS.management.approval)
          .describe('"ask": ask the user before a server is added; "auto": do not ask.'),
        persist: yesOrNo
          .default(DEFAULTS.management.persist)
          .describe('true also adds and removes these servers in this file. Default false.'),
      }),
    ],
    { error: 'must be true, false or {"enabled", "approval", "persist"}' },
  )
  .describe(
    'Tools to add, remove, reload and list servers while the gateway runs. A client that can add a server can run any ' +
      'program.',
  );

const audit = z.strictObject({
  arguments: yesOrNo
    .default(DEFAULTS.audit.arguments)
    .describe('Also record the arguments, except those named like secrets, and redacted ones.'),
  redact: textList.default([]).describe('Names of other arguments to leave out, at any depth.'),
  maxBytes: wholeNumber(' of bytes', 65_536, 1_073_741_824)
    .default(DEFAULTS.audit.maxBytes)
    .describe('Size at which a new file is started, in bytes.'),
  files: wholeNumber(' of files', 2, 100)
    .default(DEFAULTS.audit.files)
    .describe('How many files are kept, including the current one.'),
});

const http = z
  .strictObject({
    token: nonEmptyText()
      .optional()
      .describe(
        'Bearer token that clients must send, at least 16 characters; better as ${NAME}. ' +
          'Default: SWITCHBOARD_HTTP_TOKEN, otherwise a generated one.',
      ),
    allowedHosts: z
      .array(
        z
          .string({ error: 'must be a string' })
          .regex(/^(?:\[[0-9A-Fa-f:.]+\]|[^\s/:@?#[\]]+)(?::[0-9]{1,5})?$/u, {
            error: 'must be a host such as "example.com" or "example.com:8080"',
          }),
        { error: 'must be a list of hosts' },
      )
      .default([])
      .describe('Host names that clients may use, in addition to those of this machine.'),
    allowedOrigins: z
      .array(
        z.string({ error: 'must be a string' }).regex(/^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^\s/?#@]+$/u, {
          error: 'must be an origin such as "https://example.com", without a path',
        }),
        { error: 'must be a list of origins' },
      )
      .default([])
      .describe(
        'Origins that clients may send. Web pages cannot connect in any case: CORS is not supported.',
      ),
    maxSessions: wholeNumber('', 1, 100_000)
      .default(DEFAULTS.http.maxSessions)
      .describe(
        'Maximum number of concurrent sessions and, in protocol version 2026-07-28, of concurrent requests.',
      ),
    sessionIdleMs: milliseconds()
      .default(DEFAULTS.http.sessionIdleMs)
      .describe('Inactivity after which a session ends, in milliseconds.'),
    console: z
      .enum(['on', 'read-only', 'off'], { error: 'must be "on", "read-only" or "off"' })
      .default('on')
      .describe(
        'The page at /console, for browsers on this machine: "on", "read-only" (allows no changes) or "off".',
      ),
    maxProcesses: wholeNumber('', 1, 100_000)
      .default(DEFAULTS.http.maxProcesses)
      .describe('Maximum number of server processes for all clients together.'),
    oauth: httpOAuth.optional(),
  })
  .describe('Settings for HTTP clients (`switchboard --http`).');

const metrics = z.strictObject({
  host: nonEmptyText()
    .default(DEFAULTS.metrics.host)
    .describe('Address to listen on; "0.0.0.0" lets other machines read them.'),
  port: wholeNumber('', 0, 65_535).default(DEFAULTS.metrics.port).describe('Port; 0 picks a free one.'),
});

const telemetry = z.strictObject({
  endpoint: z
    .string({ error: 'must be a string' })
    .regex(/^https?:\/\/[^\s/?#]+[^\s?#]*$/u, { error: 'must be a URL such as "http://127.0.0.1:4318"' })
    .optional()
    .describe(
      'Base URL of an OTLP/HTTP receiver. Default: OTEL_EXPORTER_OTLP_ENDPOINT, otherwise this machine.',
    ),
  sampleRatio: z
    .number({ error: 'must be a number from 0 to 1' })
    .min(0, { error: 'must be a number from 0 to 1' })
    .max(1, { error: 'must be a number from 0 to 1' })
    .optional()
    .describe(
      'Fraction to record of the traces that begin in this gateway, from 0 to 1. Default: OTEL_TRACES_SAMPLER, otherwise all.',
    ),
});

const replica = z
  .strictObject({
    address: z
      .string({ error: 'must be a string' })
      .regex(/^http:\/\/[^\s/?#@]+\/?$/u, {
        error: 'must be an address such as "http://10.0.0.7:3006", without a path',
      })
      .optional()
      .describe(
        "URL at which other replicas reach this one. Default: the address it listens on or, for 0.0.0.0, the machine's.",
      ),
    group: z
      .string({ error: 'must be a string' })
      .regex(/^[\w.-]{1,64}$/u, { error: 'must be 1 to 64 of the characters A-Z a-z 0-9 _ . -' })
      .default(DEFAULTS.replica.group)
      .describe('Gateways with the same store and the same group act as one.'),
  })
  .describe('This gateway as one of several that share a store.');

export const config = z
  .strictObject({
    $schema: z
      .string({ error: 'must be a string' })
      .optional()
      .describe('Location of the JSON schema for editors.'),
    extends: yesOrNo.optional().describe('In a project file: false ignores the user file. Default true.'),
    allowProjects: z
      .array(nonEmptyText(), { error: 'must be a list of directories' })
      .optional()
      .describe(
        'In the user file: directories whose projects are allowed without asking, for example "~/src/**". Default none.',
      ),
    discoverGlobs: z
      .array(nonEmptyText(), { error: 'must be a list of patterns' })
      .default([...DEFAULTS.discoverGlobs])
      .describe(
        "Patterns of .mcp.json files, relative to this file's directory; a leading ! excludes files. " +
          'Directories named "original" are never searched.',
      ),
    mcpServers: z
      .record(serverName, server, {
        error: 'must be an object of servers by name',
      })
      .optional()
      .describe('Servers by name, in the format of MCP hosts.'),
    suites: z
      .record(z.string(), suite, { error: 'must be an object of settings by server name' })
      .default({})
      .describe("How servers are exposed, by server name; overrides the server's own settings."),
    suite: suiteForm.optional(),
    approve: approve.optional(),
    pin: pin.default(DEFAULTS.pin),
    exposure: exposure
      .default(DEFAULTS.exposure)
      .describe(
        'Default exposure of servers: "suite" (one tool per server), "flat" (all their tools), ' +
          '"search" (find_tool and call_tool for all of them), "code" (find_tool and run_code) or "hidden".',
      ),
    naming: z
      .enum(NAMINGS)
      .default(DEFAULTS.naming)
      .describe(
        'Names of flat tools and prompts: "prefixed" (server__tool), or "plain" (their own names), with the server in the ' +
          'description.',
      ),
    offer: offer.default([...DEFAULTS.offer]).describe('What servers may offer; at least one.'),
    tools: z
      .record(toolName('a tool name has 1 to 64 of the characters A-Z a-z 0-9 _ -'), compoundTool, {
        error: 'must be an object of tools by name',
      })
      .optional()
      .describe('Compound tools by name: each combines tools of several servers.'),
    instructions: z
      .strictObject({
        maxChars: wholeNumber(' of characters', 0, 100_000)
          .default(DEFAULTS.instructions.maxChars)
          .describe(
            "Maximum length of the servers' instructions that are passed on, in characters; 0: none.",
          ),
      })
      .prefault({})
      .describe("The servers' instructions for the model."),
    isolation: isolation
      .default(DEFAULTS.isolation)
      .describe(
        'Who shares a process of a server: "session" (one process per client), "shared" (one for all clients) or ' +
          '"call" (one for each tool call).',
      ),
    http: http.prefault({}),
    roles: roles.optional(),
    store: nonEmptyText()
      .optional()
      .describe(
        'The Redis or Valkey server that several gateways share, such as "redis://host:6379"; the password better as ' +
          '${secret:NAME}. Default: none.',
      ),
    replica: replica.prefault({}),
    management: management.default(DEFAULTS.management.enabled),
    timeouts: z
      .strictObject({
        childSpawnMs: timeouts.childSpawnMs.default(DEFAULTS.timeouts.childSpawnMs),
        rpcMs: timeouts.rpcMs.default(DEFAULTS.timeouts.rpcMs),
        idleMs: timeouts.idleMs.default(DEFAULTS.timeouts.idleMs),
        drainMs: timeouts.drainMs.default(DEFAULTS.timeouts.drainMs),
        callMaxMs: timeouts.callMaxMs.default(DEFAULTS.timeouts.callMaxMs),
        firstListMs: firstListMs.default(DEFAULTS.timeouts.firstListMs),
        hookMs: hookMs.default(DEFAULTS.timeouts.hookMs),
      })
      .prefault({})
      .describe('Time limits for all servers, in milliseconds.'),
    introspection: z
      .strictObject({
        mode: z
          .enum(['summary', 'full', 'redacted'])
          .default(DEFAULTS.introspection.mode)
          .describe(
            'What introspect returns: "summary" (names, summaries and short signatures), "full" (everything) or "redacted" (no signatures).',
          ),
        summaryMaxChars: summaryMaxChars
          .default(DEFAULTS.introspection.summaryMaxChars)
          .describe('Maximum length of a tool summary, in characters.'),
      })
      .prefault({})
      .describe('The action "introspect" of suites.'),
    results: resultsOfAll.optional(),
    code: z
      .strictObject({
        timeoutMs: milliseconds()
          .default(DEFAULTS.code.timeoutMs)
          .describe(
            'Maximum duration of a script, in milliseconds, not counting the time a user takes to answer.',
          ),
        cpuMs: milliseconds()
          .default(DEFAULTS.code.cpuMs)
          .describe('Computing time of a script, in milliseconds, not counting the time it waits for tools.'),
        memoryMb: wholeNumber(' of MiB', 32, 1024)
          .default(DEFAULTS.code.memoryMb)
          .describe('Maximum memory of a script, in MiB.'),
        maxCalls: wholeNumber(' of calls', 1, 100_000)
          .default(DEFAULTS.code.maxCalls)
          .describe('Maximum number of tool calls of a script.'),
        concurrency: wholeNumber(' of calls', 1, 64)
          .default(DEFAULTS.code.concurrency)
          .describe('Concurrent tool calls of a script; further calls wait.'),
        maxTokens: wholeNumber(' of tokens', 100, 1_000_000)
          .default(DEFAULTS.code.maxTokens)
          .describe('Maximum length of what a script returns and logs, in tokens; more is cut.'),
      })
      .prefault({})
      .describe('What a script of run_code may use.'),
    inheritEnv: inheritEnv.default(DEFAULTS.inheritEnv),
    logLevel: z
      .enum(LOG_LEVELS)
      .default(DEFAULTS.logLevel)
      .describe('Minimum level of messages written to stderr.'),
    logDirectory: nonEmptyText()
      .optional()
      .describe("Also write the log to a file in this directory, relative to this file's directory."),
    logArguments: yesOrNo
      .default(DEFAULTS.logArguments)
      .describe('Log the arguments of calls at level debug, except presets and redacted ones.'),
    audit: z
      .union([z.boolean(), audit], {
        error: 'must be true, false or {"arguments", "redact", "maxBytes", "files"}',
      })
      .default(false)
      .describe('Record each tool call in a file in the state directory; `switchboard history` shows them.'),
    logFormat: z
      .enum(LOG_FORMATS)
      .default(DEFAULTS.logFormat)
      .describe('Format of the log: "text", or "json" with one object per line.'),
    metrics: z
      .union([z.boolean(), metrics], { error: 'must be true, false or {"host", "port"}' })
      .default(false)
      .describe('Serve metrics for Prometheus at /metrics, at a separate address.'),
    telemetry: z
      .union([z.boolean(), telemetry], { error: 'must be true, false or {"endpoint", "sampleRatio"}' })
      .default(false)
      .describe('Send a trace of each call to an OpenTelemetry receiver; the OTEL_* variables apply.'),
    limits: z
      .strictObject({
        messageBytes: wholeNumber(' of bytes', 1024, 268_435_456)
          .default(DEFAULTS.limits.messageBytes)
          .describe('Maximum size of a message from a server or a client, in bytes.'),
        callsInFlight: wholeNumber('', 1, 100_000)
          .default(DEFAULTS.limits.callsInFlight)
          .describe('Concurrent calls per server.'),
        callsQueued: wholeNumber('', 1, 1_000_000)
          .default(DEFAULTS.limits.callsQueued)
          .describe('Waiting calls per server; further calls are rejected.'),
      })
      .prefault({})
      .describe('Limits that protect this process.'),
  })
  .describe('Configuration of Switchboard, the MCP gateway.');

/** A configuration as written: any member may be missing. */
export type ConfigInput = z.input<typeof config>;
/** A configuration with every default applied. */
export type ConfigOutput = z.output<typeof config>;
export type StdioServer = z.input<typeof stdioServer>;
export type RemoteServer = z.input<typeof remoteServer>;
export type BuiltinServer = z.input<typeof builtinServer>;
export type ServerEntry = z.input<typeof server>;
/** What both an entry and `suites` may say about how a server is exposed. */
export type PresentationSettings = Pick<StdioServer, keyof typeof presentation>;
