import { basename } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { statOf } from '../../../shared/regular-file.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import type { ProjectConfig, ServiceDefinition } from '../../records/config/definition.ts';
import { isInside, realPath } from '../../records/paths.ts';
import { resolveBranch, type BranchLocation } from '../../records/project/branch.ts';
import { recordedCheckouts, type YardContext } from '../../records/project/context.ts';
import { localNameIn, whyNamed } from '../../records/state/project-name.ts';
import type { OnEvent } from '../../runtime/events.ts';
import { isGood, tellOutcomes, type ServiceOutcome } from '../../runtime/start/outcome.ts';
import { serviceDirectory } from '../../runtime/start/prepare.ts';
import { startServices, type StartPlan } from '../../runtime/start/start.ts';
import { renderCommand } from '../../runtime/start/template.ts';
import { ensureProxy } from '../proxy/ensure.ts';
import { levelsOf } from './dependency-levels.ts';
import { selectServices, type Selection } from './selection.ts';
import { lackingEnv } from '../worktrees/env.ts';

export interface UpOptions {
  /** Default: the branch of the current worktree, otherwise the one that git has checked out. */
  readonly branch?: string | undefined;
  /** Empty means those of the profile, otherwise all. Dependencies are started too. */
  readonly services: readonly string[];
  readonly profile?: string | undefined;
  /** Whether to wait until they are ready. Dependencies are always waited for. Default true. */
  readonly wait?: boolean | undefined;
  /** Whether to point their canonical ports to them. Default false. */
  readonly checkout?: boolean | undefined;
  /** Aborts the wait, never a service. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: OnEvent | undefined;
  /** How to start our own processes. Default: with this program. */
  readonly program?: readonly string[] | undefined;
}

export interface UpResult {
  /** Whether all selected services, and their ports if requested, are in the requested state. */
  readonly ok: boolean;
  readonly action: 'up' | 'restart';
  readonly branch: string;
  readonly worktree: string;
  readonly profile: string | null;
  /** As requested, or from the profile. */
  readonly services: readonly string[];
  readonly messages: readonly string[];
  readonly outcomes: readonly ServiceOutcome[];
}

/** Starts the services of a branch. Errors are thrown before anything is started. */
export async function up(context: YardContext, options: UpOptions): Promise<UpResult> {
  const selection = selectServices(context.config, options.services, options.profile);
  await context.registry.repair();
  const location = await resolveBranch(context, options.branch);
  return bringUp(context, {
    options,
    selection,
    location,
    action: 'up',
    profileOf: () => selection.profile,
  });
}

interface Bringing {
  readonly options: Omit<UpOptions, 'services' | 'branch' | 'profile'>;
  readonly selection: Selection;
  readonly location: BranchLocation;
  readonly action: UpResult['action'];
  readonly profileOf: StartPlan['profileOf'];
  readonly before?: StartPlan['before'];
}

/** The part shared with `restart`. */
export async function bringUp(context: YardContext, bringing: Bringing): Promise<UpResult> {
  const { options, selection, location, action, profileOf, before } = bringing;
  const { signal, onEvent, wait = true } = options;
  const levels = levelsOf(context.config.services, selection.wanted);
  refuseEarly(levels.flat(), location);

  // Takes as long as finding ports, so both run in parallel.
  const proxy = bringProxy(context, options);
  proxy.catch(() => undefined);
  const outcomes = await startServices({
    context,
    location,
    levels,
    profileOf,
    what: `${action} ${location.branch}`,
    wait,
    signal,
    onEvent,
    proxy,
    ...(before === undefined ? {} : { before }),
  });
  const messages = [
    await proxy,
    ...tellOutcomes(outcomes),
    ...tellName(context),
    ...startWarnings(context.config, location),
  ];
  const taken = await takePorts(context, location, outcomes, options);
  return {
    ok: outcomes.every(isGood) && taken.ok,
    action,
    branch: location.branch,
    worktree: location.worktree,
    profile: selection.profile?.name ?? null,
    services: selection.requested,
    messages: [...messages, ...taken.messages],
    outcomes,
  };
}

/** Reports a name that the user did not choose. */
function tellName({ registry, config }: YardContext): readonly string[] {
  const state = registry.read();
  const why = localNameIn(state, config)?.chosen === false ? whyNamed(state, config) : undefined;
  return why === undefined ? [] : [`${why}; \`switchyard rename NAME\` chooses another name`];
}

/** Maximum number of warnings listed one by one. */
const MOST_TOLD = 10;

/** Warnings for starting the services of a branch, one line each. */
function startWarnings(config: ProjectConfig, location: BranchLocation): readonly string[] {
  const written = config.warnings
    .filter(({ kind }) => kind !== 'ports')
    .map(({ line, message }) => `warning: ${basename(config.file)}:${line}: ${message}`);
  const more = written.length - MOST_TOLD;
  return [
    ...written.slice(0, MOST_TOLD),
    ...(more > 0 ? [`warning: ${more} more of these; \`switchyard doctor\` lists all`] : []),
    ...envWarning(config, location),
  ];
}

/** Files may have been added to `[env]` after the worktree was created. */
function envWarning({ root, env }: ProjectConfig, { branch, worktree }: BranchLocation): readonly string[] {
  const lacking = lackingEnv({ root, worktree, env });
  if (lacking.length === 0) return [];
  const add = `\`switchyard create ${shellWord(branch)}\` adds ${lacking.length === 1 ? 'it' : 'them'}`;
  return [
    `warning: ${worktree} is missing ${lacking.join(', ')}, listed under [env] in switchyard.toml; ${add}`,
  ];
}

/** Points canonical ports to the started services if requested; otherwise restores their previous targets. */
async function takePorts(
  context: YardContext,
  { branch }: BranchLocation,
  outcomes: readonly ServiceOutcome[],
  { checkout: isRequested = false, signal, onEvent, program }: Bringing['options'],
): Promise<{ readonly ok: boolean; readonly messages: readonly string[] }> {
  const good = outcomes.filter(isGood);
  const rest = { branch, signal, onEvent, program };
  if (!isRequested) {
    if (recordedCheckouts(context).length === 0) return { ok: true, messages: [] };
    const { restoreAfterUp } = await import('../checkout/after-up.ts');
    const started = good.filter(({ result }) => result !== 'already-running');
    return {
      ok: true,
      messages: await restoreAfterUp(context, { ...rest, services: started.map(({ service }) => service) }),
    };
  }
  if (good.length === 0) return { ok: false, messages: [] };
  const { checkout } = await import('../checkout/checkout.ts');
  const names = good.map(({ service }) => service);
  const canonical = context.config.services.flatMap(({ name, port }) => (port === undefined ? [] : [name]));
  const led = names.filter((name) => canonical.includes(name));
  return checkout(context, { ...rest, services: led.length > 0 ? led : names });
}

/** Checks that the commands of all services can be parsed, and that their directories exist. */
function refuseEarly(services: readonly ServiceDefinition[], location: BranchLocation): void {
  for (const { name, command } of services) renderCommand(name, command, new Map());
  if (statOf(location.worktree)?.isDirectory() !== true) {
    throw new SwitchboardError('WORKTREE_MISSING', `The worktree does not exist: ${location.worktree}.`, {
      hint: `Run \`switchyard create ${shellWord(location.branch)}\` first.`,
    });
  }
  for (const service of services.filter(({ cwd }) => cwd !== '')) {
    const directory = serviceDirectory(service, location);
    if (isInside(realPath(location.worktree), realPath(directory))) continue;
    throw new SwitchboardError(
      'CWD_ESCAPES',
      `services.${service.name}.cwd points outside the worktree: ${directory} is ${realPath(directory)}`,
      { hint: 'A symbolic link in the path points elsewhere. Use a directory inside the worktree.' },
    );
  }
}

async function bringProxy(
  context: YardContext,
  { onEvent, program }: Pick<UpOptions, 'onEvent' | 'program'>,
): Promise<string> {
  const { text } = await ensureProxy(context, program === undefined ? {} : { program });
  onEvent?.({ kind: 'proxy', text });
  return text;
}
