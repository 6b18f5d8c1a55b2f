import { startDetached, type Detached } from '../../../process/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import type { ServiceDefinition } from '../../records/config/definition.ts';
import { shellSyntaxIn } from '../../records/config/shell-syntax.ts';
import { serviceKey } from '../../records/names.ts';
import type { YardContext } from '../../records/project/context.ts';
import { identityFields } from '../../records/state/process-record.ts';
import { ensureProject } from '../../records/state/project-record.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { logLimit } from '../logs/log-limit.ts';
import { rotateForRun } from '../logs/rotate.ts';
import { releaseLease } from '../ports/lease.ts';
import { exitFileOf } from '../processes/exit.ts';
import type { StartedService } from '../readiness/ready.ts';
import { notStarted, type ServiceOutcome } from './outcome.ts';
import type { Prepared } from './prepare.ts';

export type Launched = { readonly prepared: Prepared } & (
  ({ readonly kind: 'started' } & StartedService) | { readonly kind: 'failed'; readonly error: unknown }
);

/**
 * Starts services together in three steps: records the intents, starts the processes, records the pids. Whenever we are
 * killed, the cookie of every running process is in the file.
 */
export async function launchServices(
  context: YardContext,
  prepared: readonly Prepared[],
): Promise<readonly Launched[]> {
  if (prepared.length === 0) return [];
  const { registry, config } = context;
  await registry.change((state) => {
    const { services } = ensureProject(state, config);
    for (const { record } of prepared) services[keyOf(record)] = record;
  });
  const launched = await Promise.all(prepared.map(launchOne));
  for (const {
    kind,
    prepared: { record },
  } of launched) {
    // The record keeps the port from others until the lease is gone.
    if (kind === 'failed') releaseLease(context.home, record.port, record.cookie);
  }
  await registry.change((state) => {
    const { services } = ensureProject(state, config);
    for (const each of launched) {
      const key = keyOf(each.prepared.record);
      if (each.kind === 'started') services[key] = each.record;
      else Reflect.deleteProperty(services, key);
    }
  });
  return launched;
}

async function launchOne(prepared: Prepared): Promise<Launched> {
  try {
    const { pid, startTime, exited } = await spawnService(prepared);
    return {
      kind: 'started',
      prepared,
      record: { ...prepared.record, ...identityFields({ pid, startTime }) },
      exited,
    };
  } catch (error) {
    return { kind: 'failed', prepared, error };
  }
}

/** The outcome for a service that could not be started. */
export function explainFailure({ prepared, error }: Extract<Launched, { kind: 'failed' }>): ServiceOutcome {
  const { service } = prepared.record;
  if (!(error instanceof SwitchboardError))
    return notStarted(service, `${service} was not started: ${messageOf(error)}`);
  const hint = hintFor(prepared.definition, error);
  return notStarted(service, error.message, hint === undefined ? [] : [hint]);
}

/** The hints of the errors themselves are about server definitions. */
function hintFor(
  { name: service, command }: ServiceDefinition,
  { code, hint }: SwitchboardError,
): string | undefined {
  const syntax = code === 'COMMAND_NOT_FOUND' ? shellSyntaxIn(command) : undefined;
  if (syntax !== undefined)
    return `Commands do not run in a shell. Write ${syntax.instead} in switchyard.toml.`;
  if (code === 'COMMAND_NOT_FOUND')
    return `Install it, or correct services.${service}.command in switchyard.toml.`;
  if (code === 'CWD_NOT_USABLE')
    return `Create it on this branch, or correct services.${service}.cwd in switchyard.toml.`;
  return hint;
}

async function spawnService({ record, argv, cwd, env }: Prepared): Promise<Detached> {
  const [command = '', ...args] = argv;
  rotateForRun(record.log_file);
  return startDetached({
    name: record.service,
    command,
    args,
    cwd,
    env,
    logFile: record.log_file,
    logLimit: logLimit(record.log_file),
    exitFile: exitFileOf(record.log_file),
  });
}

function keyOf({ branch, service }: ServiceRecord): string {
  return serviceKey(branch, service);
}
