import { readExit, type RecordedExit } from '../../process/index.ts';
import type { ServiceDefinition } from '../config/definition.ts';
import type { YardContext } from '../context.ts';
import { slug } from '../names.ts';
import { insideLogs } from '../state/home.ts';
import type { ServiceRecord } from '../state/records.ts';
import { exitFileOf } from './exit-file.ts';
import type { ServiceHealthResult } from './health.ts';
import { snapshotServices, type ServiceSnapshot } from './snapshot.ts';
import { hostOfListener, stateOf, type Verdict } from './state.ts';

/** All there is to say about how a service is doing. */
export interface Inspected extends ServiceSnapshot, Verdict {
  /** What its health address answered, where it has one and listens. */
  readonly health: ServiceHealthResult | undefined;
  /** How it ended, where that was noted. */
  readonly exit: RecordedExit | undefined;
}

/** How long services may take to answer for their health, in milliseconds. All are asked at the same time. */
const HEALTH_TIMEOUT = 1000;

/** How these services are doing, in the same order. Only looks, and asks health addresses. */
export function inspectServices(
  { home, config }: Pick<YardContext, 'home' | 'config'>,
  records: readonly ServiceRecord[],
): Promise<readonly Inspected[]> {
  const definitions = new Map(config.services.map((definition) => [definition.name, definition]));
  const definitionOf = ({ service }: ServiceRecord): ServiceDefinition | undefined =>
    definitions.get(slug(service));
  // One that is not in the file any more is not known to need a port.
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
  // Few services have a health address, and HTTP takes its time to load.
  const { checkServiceHealth } = await import('./health.ts');
  return checkServiceHealth({
    health: definition.health,
    host,
    port: seen.record.port,
    timeout: HEALTH_TIMEOUT,
  });
}
