import { isWell, type ServiceState } from '../../../switchyard/index.ts';
import type { Style } from '../../kit/style.ts';

/** The state of a service, colored. */
export function painted(state: ServiceState, style: Style): string {
  if (isWell(state)) return style.good(state);
  return BAD.has(state) ? style.bad(state) : style.caution(state);
}

const BAD: ReadonlySet<ServiceState> = new Set(['exited', 'unhealthy', 'wrong-port']);
