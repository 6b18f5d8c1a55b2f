import { readExit, type RecordedExit } from '../../../process/index.ts';
import type { ServiceDefinition } from '../../records/config/definition.ts';
import { slug } from '../../records/names.ts';
import type { YardContext } from '../../records/project/context.ts';
import { insideLogs } from '../../records/state/home.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { exitFileOf } from '../processes/exit.ts';
import type { ServiceHealthResult } from '../readiness/health.ts';
import { hostOfListener, stateOf, type Verdict } from './service-state.ts';
import { snapshotServices, type ServiceSnapshot } from './snapshot.ts';

/** Everything known about the state of a service. */
export interface Inspected extends ServiceSnapshot, Verdict {
  /** The result of its health check, if it has one and listens. */
  readonly health: ServiceHealthResult | undefined;
  /** How it ended, if that was recorded. */
  readonly exit: RecordedExit | undefined;
}

/** Timeout of health checks, in milliseconds. All run in parallel. */
const HEALTH_TIMEOUT = 1000;

/** The state of these services, in the same order. Only reads, and runs health checks. */
export function inspectServices(
  { home, config }: Pick<YardContext, 'home' | 'config'>,
  records: readonly ServiceRecord[],
): Promise<readonly Inspected[]> {
  const definitions = new Map(config.services.map((definition) => [definition.name, definition]));
  const definitionOf = ({ service }: ServiceRecord): ServiceDefinition | undefined =>
    definitions.get(slug(service));
  // A service that is no longer in the file is not assumed to need a port.
  const needsPort = (record: ServiceRecord): boolean => (definitionOf(record)?.readyTimeout ?? 0) !== 0;
  return Promise.all(
    snapshotServices(records, needsPort).map(async (seen) => {
      const { record, status } = seen;
      const exit =
        status === 'stale' && insideLogs(home, record.log_file)
          ? readExit(exitFileOf(record.log_file))
          : undefined;
      const health = await healthOf(seen, definitionOf(record));
      return { ...seen, health, exit, ...stateOf(seen, { needsPort: needsPort(record), health, exit }) };
    }),
  );
}

async function healthOf(
  seen: ServiceSnapshot,
  definition: ServiceDefinition | undefined,
): Promise<ServiceHealthResult | undefined> {
  const host = hostOfListener(seen);
  if (definition?.health === undefined || host === undefined) return undefined;
  // Few services have a health check, and HTTP is slow to load.
  const { checkServiceHealth } = await import('../readiness/health.ts');
  return checkServiceHealth({
    health: definition.health,
    host,
    port: seen.record.port,
    timeout: HEALTH_TIMEOUT,
  });
}
