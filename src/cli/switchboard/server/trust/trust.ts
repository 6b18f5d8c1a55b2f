import { isNotable, type App, type ServerReview, type ToolReview } from '../../../../app/index.ts';
import type { LoadedConfig, ServerDefinition } from '../../../../config/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { Exit } from '../../../../shared/exit-codes.ts';
import { didYouMean } from '../../../../shared/nearest.ts';
import { plainLine } from '../../../../shared/printable.ts';
import { usage, type ParsedArguments } from '../../../kit/arguments.ts';
import type { CommandOutcome } from '../../../kit/command.ts';
import { confirm } from '../../../kit/prompter.ts';
import { createStyle } from '../../../kit/style.ts';
import type { CliCommand, Context } from '../../command.ts';
import { openConfiguredStore } from '../../configured-store.ts';
import { selectServer } from '../select-servers.ts';
import { allowedText, serverText, toolText } from './trust-text.ts';

export const trustCommand: CliCommand = {
  about: [
    'Switchboard remembers the definition of each tool from the first use of its server: name, description, schemas ' +
      'and annotations. This command shows which tools have changed since, are new, or have hidden text; for one ' +
      'server, it shows the differences. It starts no servers.',
    'With "pin": "block" in the configuration, such tools are withheld until you approve them with --approve. You ' +
      'approve exactly the definition that was shown: a tool that changes afterwards is withheld again.',
    'With "approve" in the configuration, you are asked in the host before tools run. This command lists the tools ' +
      'that you allowed "from now on". --allow allows a tool, even in hosts that cannot ask; --revoke undoes it.',
  ],
  flags: [
    { name: 'approve', summary: 'approve the current definitions of the server, or of one tool' },
    {
      name: 'hash',
      value: 'HASH',
      summary: 'with --approve: only this definition of the tool, without asking',
    },
    { name: 'allow', summary: 'let this tool run without asking from now on' },
    { name: 'revoke', summary: 'ask again about the tools of the server, or about one tool' },
    { name: 'yes', short: 'y', summary: 'approve without asking' },
  ],
  examples: [
    ['$0 trust', 'list the changes of all servers'],
    ['$0 trust github', 'show the changes of one server as a diff'],
    ['$0 trust github create_issue --approve', 'show the current definition of a tool, and approve it'],
    ['$0 trust files write_file --allow', 'do not ask about this tool again'],
    ['$0 trust files --revoke', 'ask about all its tools again'],
    ["$0 trust --json | jq '.servers[] | select(.tools != [])'", 'servers with changes, as JSON'],
  ],
  exits: [[Exit.failed, 'nothing was approved, or the definitions of a server cannot be compared']],
  async run({ flags, words }, context) {
    const [server, tool, ...more] = words;
    const actions = ['approve', 'allow', 'revoke'].filter((each) => flags.has(each));
    if (more.length > 0)
      throw usage('trust takes a server and a tool.', 'For example: trust github create_issue');
    if (flags.has('hash') && !flags.has('approve')) throw usage('--hash is for --approve.');
    if (actions.length > 1) throw usage(`Give either --${actions.join(' or --')}.`);
    if (flags.has('hash') && tool === undefined) throw usage('--hash needs a tool as well.');
    if (flags.has('revoke') && server === undefined)
      throw usage('--revoke needs a server.', 'For example: trust files --revoke');
    if (flags.has('allow') && tool === undefined)
      throw usage('--allow needs a server and a tool.', 'For example: trust files write_file --allow');
    const config = await context.loadConfig('quietly');
    const servers = flags.has('revoke') ? [] : chosenFrom(config, server, flags.has('allow'));
    const [named] = servers;
    if (flags.has('approve') && (server === undefined || named === undefined))
      throw usage('--approve needs a server.', 'For example: trust github --approve');
    return withSharedApp(config, context, (app) => {
      // Its server may have been removed since.
      if (flags.has('revoke')) return revoke(app, server, tool);
      if (flags.has('allow') && named !== undefined && tool !== undefined) return allow(app, named, tool);
      if (flags.has('approve') && named !== undefined)
        return approve({ app, server: named, tool, flags }, context);
      return show(app, servers, tool);
    });
  },
};

/** The server with a name, or all. Our own sources do not change, but their tools may need an approval. */
function chosenFrom(
  config: LoadedConfig,
  name: string | undefined,
  withBuiltins: boolean,
): readonly ServerDefinition[] {
  const named = name === undefined ? config.servers : [selectServer(config, name)];
  return named.filter(({ kind }) => withBuiltins || kind !== 'builtin');
}

/** Includes what gateways with this configuration share through its store, if it has one. */
async function withSharedApp<T>(
  config: LoadedConfig,
  context: Context,
  use: (app: App) => Promise<T> | T,
): Promise<T> {
  const store = await openConfiguredStore(config, context.env, context.log);
  try {
    const app = context.open(config, undefined, store);
    await app.trust.refresh(config.servers);
    const outcome = await use(app);
    // What a server has listed in the meantime is also stored for the others.
    await app.trust.settle();
    return outcome;
  } finally {
    store?.close();
  }
}

function show(app: App, servers: readonly ServerDefinition[], tool: string | undefined): CommandOutcome {
  const reviews = servers.map((server) => {
    const review = app.trust.of(server);
    const tools = tool === undefined ? review.tools.filter(isNotable) : [toolIn(review, server.name, tool)];
    return { server, review, tools };
  });
  const allowed = app.trust.allowed.filter(
    (each) => servers.some(({ name }) => name === each.server) && (tool === undefined || each.tool === tool),
  );
  const inFull = servers.length === 1;
  return {
    exitCode: reviews.some(({ review }) => review.problem !== undefined) ? Exit.failed : Exit.ok,
    data: {
      servers: reviews.map(({ server, review, tools }) => ({
        name: server.name,
        pin: server.pin ?? 'warn',
        since: review.since ?? null,
        known: review.tools.length,
        overflow: review.overflow,
        ...(review.problem === undefined ? {} : { problem: review.problem }),
        tools,
      })),
      allowed,
    },
    text: (style) =>
      reviews.map((each) => serverText(each, { inFull, style })).join('') +
      (reviews.length === 0 ? 'No server is configured.\n' : '') +
      allowedText(allowed),
  };
}

interface Approval {
  readonly app: App;
  readonly server: ServerDefinition;
  readonly tool: string | undefined;
  readonly flags: ParsedArguments['flags'];
}

async function approve(
  { app, server, tool, flags }: Approval,
  { stop, variant }: Context,
): Promise<CommandOutcome> {
  const review = app.trust.of(server);
  if (review.problem !== undefined) throw new SwitchboardError('TRUST_UNREADABLE', review.problem);
  const chosen = tool === undefined ? review.tools : [toolIn(review, server.name, tool)];
  const tools = chosen.filter(isNotable);
  const hash = flags.get('hash') ?? '';
  if (tool !== undefined && hash !== '' && chosen[0]?.hash !== hash)
    throw new SwitchboardError(
      'TRUST_OUTDATED',
      `The tool ${JSON.stringify(tool)} of server '${server.name}' was not approved: its hash is ${chosen[0]?.hash ?? 'unknown'}.`,
      { hint: `Look at it again: ${variant.program} trust ${server.name} ${tool}` },
    );
  const name = plainLine(server.name);
  if (tools.length === 0)
    return { data: { approved: [] }, text: () => `Nothing to approve: no tool of ${name} has changed.\n` };
  const isAsked = hash === '' && !flags.has('yes') && !flags.has('json') && process.stdin.isTTY;
  const shown = (): string =>
    tools.map((each) => toolText(each, createStyle(process.stderr, process.env))).join('');
  if (isAsked) process.stderr.write(shown());
  const agreed =
    hash !== '' ||
    flags.has('yes') ||
    (isAsked &&
      (await confirm('Approve this?', { input: process.stdin, output: process.stderr, signal: stop })));
  if (!agreed)
    return {
      exitCode: Exit.failed,
      data: { approved: [], notApproved: tools },
      text: () => (isAsked ? '' : shown()),
      remark: `${variant.program}: Nothing was approved.${isAsked ? '' : ' Add --yes, or --hash HASH, to approve it.'}\n`,
    };
  await app.trust.approve(server, tools);
  return {
    data: { approved: tools.map((each) => ({ name: each.name, hash: each.hash })) },
    text: () =>
      tools.map((each) => `Approved ${plainLine(each.name)} of ${name} as ${each.hash}.\n`).join(''),
  };
}

async function allow(app: App, server: ServerDefinition, tool: string): Promise<CommandOutcome> {
  const list = () => (app.behind(server.name) ?? app.source(server.name)).list('tools');
  const allowed = await app.trust.allow(server, tool, async () => (await list()).byKey.get(tool));
  if (allowed === undefined) throw unknownTool(server.name, tool, (await list()).byKey.keys());
  return {
    data: { allowed },
    text: () =>
      `${plainLine(tool)} of ${plainLine(server.name)} runs without asking from now on, as long as it does not change.\n`,
  };
}

async function revoke(
  app: App,
  server: string | undefined,
  tool: string | undefined,
): Promise<CommandOutcome> {
  const revoked = await app.trust.revoke(server, tool);
  return {
    data: { revoked },
    text: () =>
      revoked.length === 0
        ? 'Nothing was allowed.\n'
        : revoked
            .map((each) => `${plainLine(each.tool)} of ${plainLine(each.server)} asks again.\n`)
            .join(''),
  };
}

function toolIn({ tools }: ServerReview, server: string, tool: string): ToolReview {
  const found = tools.find(({ name }) => name === tool);
  if (found !== undefined) return found;
  throw unknownTool(
    server,
    tool,
    tools.map(({ name }) => name),
  );
}

function unknownTool(server: string, tool: string, names: Iterable<string>): SwitchboardError {
  return new SwitchboardError(
    'TOOL_UNKNOWN',
    `The server ${JSON.stringify(server)} has not listed a tool ${JSON.stringify(tool)}.`,
    {
      hint: didYouMean(tool, new Set(names)) ?? `\`switchboard tools ${server}\` lists its tools.`,
    },
  );
}
