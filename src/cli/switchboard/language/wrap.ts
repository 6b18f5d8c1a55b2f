import { relative, resolve } from 'node:path';
import { ownSentence } from '../../../exposure/index.ts';
import {
  keepApproval,
  withLanguage,
  type LoadedConfig,
  type ServerDefinition,
  type LanguageDefinition,
} from '../../../config/index.ts';
import {
  clearLeftovers,
  WRAP_CONFIG_FILE,
  INSTRUCTIONS_FILE,
  readFolderState,
  refuseToWrap,
  scriptName,
  wrapFolder,
  type WrapPlan,
} from '../../../language/wrap/index.ts';
import { resolveModel, type ResolvedModel } from '../../../language/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { withFileLock } from '../../../shared/file-lock.ts';
import { printableLine, printable } from '../../../shared/printable.ts';
import type { ParsedArguments } from '../../kit/arguments.ts';
import { backupText, CHANGE_FLAGS, changeConfig, notifyOfChange } from '../config/change-config.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliCommand, Context } from '../command.ts';
import { inOtherFile, isConfigFile, configTarget, type ConfigTarget } from '../config/config-target.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { describeFailure, failureData } from '../../kit/output.ts';
import { oneServerIn, requireServer } from '../server/select-servers.ts';
import { LANGUAGE_FLAGS, languageIn } from './language-flags.ts';
import { unreportedStderr } from '../server-output.ts';
import { configPathFor, notifyGateways, notifiedText } from '../gateway/notify-gateways.ts';
import {
  findInstructions,
  instructionsIn,
  whereFrom,
  type FoundInstructions,
  refuseForeign,
  wrapPlan,
  type WrapChoice,
} from './wrap-plan.ts';

export const wrapCommand: CliCommand = {
  about: [
    'Puts a small language model in front of a server. The server then has one tool, natural_language, ' +
      'which takes a request in natural language; the model picks the right tools, runs them and responds. ' +
      '`$0 unwrap` undoes this.',
    'A server in the configuration file gets "language" in its entry. A server in its own directory, such as ' +
      'mcps/memory/.mcp.json, gets three files there: NAME-claude-wrapper.mjs, which .mcp.json now starts; ' +
      'CLAUDE.md, the instructions for the model, which you can edit; and original/.mcp.json, the original ' +
      'definition. The server runs in its directory with its own environment and starts with the first ' +
      'request; its resources and prompts are no longer offered. If this is interrupted, the server still ' +
      'works, and `$0 unwrap` or `$0 wrap` cleans up.',
    'CLAUDE.md comes from mcp-descriptions.json, or from built-in texts for common servers; otherwise the ' +
      'server is started once and a draft is written from its tools. An existing CLAUDE.md is kept.',
    'Without --model, the model is claude-haiku-5-5 if ANTHROPIC_API_KEY or CLAUDE_API_KEY is set, ' +
      'otherwise that of the host, which needs no key. For a local model, set --base-url and --model. Keys ' +
      'are never written to a file. Destructive tools run only if you agree, or with --allow-destructive. ' +
      'Log in to a remote server (`$0 auth`) before you wrap its directory.',
  ],
  flags: [
    ...LANGUAGE_FLAGS,
    {
      name: 'instructions',
      value: 'FILE',
      summary: 'read the instructions for the model from this file',
    },
    ...CHANGE_FLAGS,
  ],
  examples: [
    ['$0 wrap memory', 'with the default model'],
    ['$0 wrap memory --dry-run', 'preview'],
    ['$0 wrap memory --model host', "with the host's model; needs no key"],
    ['$0 wrap files --model llama3.2 --base-url http://localhost:11434/v1', 'with a local model'],
    ['$0 wrap crm --instructions docs/crm.md --max-steps 20', 'with your own instructions'],
    ['$0 unwrap memory', 'undo'],
  ],
  exits: [[Exit.failed, 'a file is in the way, or a running gateway could not be notified']],
  async run(given, context) {
    const name = oneServerIn(given, 'wrap', context, 'memory');
    const choice = languageIn(given);
    const config = await context.loadConfig();
    const otherwise = `\`${context.variant.program} add\` adds a new one.`;
    const server = requireServer(config, name, otherwise);
    if (isConfigFile(server.origin.file, config) && server.kind !== 'builtin') {
      const target = configTarget(given, config, context);
      const elsewhere = inOtherFile(name, config, target);
      if (elsewhere !== undefined) throw elsewhere;
      return wrapEntry({ server, choice, target }, given, context);
    }
    const work = async (): Promise<CommandOutcome> => {
      // While we waited for another process, it may have become a different server.
      const now = await context.loadConfig('quietly');
      const found = requireServer(now, name, otherwise);
      return wrapInFolder({ server: found, choice, config: now }, given, context);
    };
    return withFileLock(server.origin.file, work, { signal: context.stop });
  },
};

/** Adds the model to the entry in the configuration. */
async function wrapEntry(
  { server, choice, target }: Pick<WrapChoice, 'server' | 'choice'> & { readonly target: ConfigTarget },
  given: ParsedArguments,
  context: Context,
): Promise<CommandOutcome> {
  const { name, language } = server;
  const file = given.flags.get('instructions');
  if (file !== undefined) instructionsIn(file, context.cwd);
  const told =
    file === undefined ? {} : { instructionsFile: relative(target.directory, resolve(context.cwd, file)) };
  const settings = { ...choice, ...told };
  const { done, preview } = await changeConfig(target, given, context, (text) =>
    withLanguage(text, name, settings),
  );
  const { gateways, exitCode } = await notifyOfChange(done, [done.file], given, context);
  const model = await resolveModel({ ...language, ...choice }, context.env);
  const shown = JSON.stringify(printableLine(name));
  return {
    exitCode,
    data: { server: name, how: 'config', language: settings, model, ...done, gateways },
    text: (style) => {
      if (done.dryRun) return preview(style) || `Nothing would change in ${printableLine(done.file)}.\n`;
      if (!done.changed) return `${shown} is already wrapped.\n`;
      return [
        `Wrapped ${shown} in ${printableLine(done.file)}: it now takes natural language.${backupText(done)}\n`,
        modelNeeds(model, context.env, { ...language, ...choice }),
        notifiedText(gateways),
        nextText(name, model, context),
      ].join('');
    },
  };
}

/** Adds a wrapper to the folder of the server. */
async function wrapInFolder(
  wrapped: WrapChoice,
  given: ParsedArguments,
  context: Context,
): Promise<CommandOutcome> {
  const { server, choice, config } = wrapped;
  const { name, origin } = server;
  const dryRun = given.flags.has('dry-run');
  const file = given.flags.get('instructions');
  const asked = file === undefined ? undefined : instructionsIn(file, context.cwd);
  const folder = resolve(origin.file, '..');
  if (readFolderState(folder).kind === 'wrapped') {
    if (Object.keys(choice).length > 0 || asked !== undefined) throw wrappedAlready(server, context);
    return alreadyWrapped(server, config, given, context);
  }
  refuseForeign(server, config, context.variant.program);
  refuseToWrap(folder, name);
  // Clean up first: the existing files must be the folder's own.
  if (!dryRun) clearLeftovers(folder);
  const { hasOwn } = readFolderState(folder);
  // Not searched for if the folder's own instructions are used, or if nothing is written.
  const looksFor = asked === undefined && !hasOwn && !dryRun;
  const found: FoundInstructions | undefined =
    asked !== undefined
      ? { text: asked, from: 'file' }
      : looksFor
        ? await findInstructions(server, config, context)
        : undefined;
  const about =
    found?.about ??
    context
      .open({ ...config, servers: [server], compounds: [] })
      .source(name)
      .about();
  const plan = wrapPlan(wrapped, ownSentence(about), context);
  // Wrapping an approved server approves the wrapper.
  if (!dryRun) {
    await keepApproval([origin.file], () => {
      wrapFolder({ ...plan, instructions: found?.text });
    });
  }
  const done = { changed: !dryRun, dryRun };
  const { gateways, exitCode } = await notifyOfChange(done, [configPathFor(server, config)], given, context);
  const model = await resolveModel(choice, context.env);
  const from = found?.from ?? (asked !== undefined ? 'file' : hasOwn ? 'own' : whereFrom(server));
  return {
    exitCode,
    data: {
      server: name,
      how: 'folder',
      folder,
      files: [WRAP_CONFIG_FILE, INSTRUCTIONS_FILE, scriptName(name), `original/${WRAP_CONFIG_FILE}`],
      instructions: from,
      language: choice,
      model,
      ...done,
      gateways,
      ...(found?.problem === undefined ? {} : { problem: failureData(found.problem) }),
    },
    remark: found?.problem && unstarted(found.problem, name, context),
    text: () =>
      [
        folderText(plan, from, dryRun),
        modelNeeds(model, context.env, choice),
        dryRun ? '' : notifiedText(gateways),
        dryRun ? '' : nextText(name, model, context),
      ].join(''),
  };
}

function wrappedAlready({ name, origin }: ServerDefinition, { variant }: Context): SwitchboardError {
  return new SwitchboardError('WRAP_REFUSED', `${JSON.stringify(name)} is already wrapped.`, {
    hint: `Edit the arguments in ${origin.file} or its CLAUDE.md, or first run: ${variant.program} unwrap ${name}`,
  });
}

async function alreadyWrapped(
  { name, origin }: ServerDefinition,
  config: LoadedConfig,
  given: ParsedArguments,
  context: Context,
): Promise<CommandOutcome> {
  const { program } = context.variant;
  const folder = resolve(origin.file, '..');
  const dryRun = given.flags.has('dry-run');
  if (!dryRun) clearLeftovers(folder);
  const gateways = await notifyGateways([configPathFor({ origin }, config)], context, 'nothing has changed');
  return {
    data: { server: name, how: 'folder', folder, changed: false, dryRun, gateways },
    text: () => `${JSON.stringify(printableLine(name))} is already wrapped. ${program} unwrap restores it.\n`,
  };
}

const SOURCES = {
  file: 'from --instructions',
  own: 'existing file, unchanged',
  descriptions: 'from mcp-descriptions.json',
  library: 'built-in text for this server',
  draft: 'drafted from its tools',
} as const;

function folderText({ folder, server }: WrapPlan, from: keyof typeof SOURCES, dryRun: boolean): string {
  const shown = JSON.stringify(printableLine(server));
  const rows = [
    [WRAP_CONFIG_FILE, 'starts the wrapper; its arguments are the model settings'],
    [INSTRUCTIONS_FILE, `instructions for the model: ${SOURCES[from]}`],
    [scriptName(server), 'the wrapper'],
    [`original/${WRAP_CONFIG_FILE}`, 'the original definition'],
  ] as const;
  const width = Math.max(...rows.map(([file]) => file.length)) + 2;
  return [
    `${dryRun ? `Would wrap ${shown} in` : `Wrapped ${shown} in`} ${printableLine(folder)}:\n`,
    ...rows.map(([file, what]) => `  ${file.padEnd(width)}${what}\n`),
  ].join('');
}

function nextText(name: string, model: ResolvedModel, { variant }: Context): string {
  // A command line has no model for others to use.
  const canCall = 'provider' in model && model.provider !== 'host';
  return (
    (canCall
      ? `Try it: ${variant.program} call ${printableLine(name)} natural_language query="what can you do?"\n`
      : '') + `Undo: ${variant.program} unwrap ${printableLine(name)}\n`
  );
}

function unstarted(error: SwitchboardError, name: string, context: Context): string {
  return [
    `${context.variant.program}: ${JSON.stringify(printableLine(name))} could not be started, so CLAUDE.md has no tools. Edit it, or unwrap and wrap again.\n`,
    describeFailure(error, context.variant.program),
    unreportedStderr(context.unseenOutput(name), error),
  ].join('');
}

/**
 * Which model will be used and what it requires, for a user who has just chosen it or let the available keys decide.
 */
function modelNeeds(
  model: ResolvedModel,
  env: NodeJS.ProcessEnv,
  chosen: Pick<LanguageDefinition, 'model' | 'provider'>,
): string {
  if ('problem' in model) {
    const { message, hint } = model.problem;
    return `Action needed: ${printableLine(message)}\n  ${printable(hint)}\n`;
  }
  if (model.provider === 'host') {
    const isChosen = chosen.model !== undefined || chosen.provider !== undefined;
    const instead = isChosen
      ? ''
      : 'If it does not, set ANTHROPIC_API_KEY for the gateway, or wrap with --model and --base-url.\n';
    return `It uses the model of the host: no key is needed, but the host must support sampling with tools.\n${instead}`;
  }
  const key = KEYS[model.provider].find((name) => env[name]);
  const needs = key === undefined ? '' : ` Set ${key} where the gateway is started, as it is here.`;
  return `The model is ${printableLine(model.model)}.${needs}\n`;
}

const KEYS = { anthropic: ['ANTHROPIC_API_KEY', 'CLAUDE_API_KEY'], openai: ['OPENAI_API_KEY'] } as const;
