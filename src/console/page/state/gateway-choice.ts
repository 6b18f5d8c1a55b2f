/** The gateway that the screens show: an id, or an empty string for all. */
import { computed, signal } from '@preact/signals';
import { pathEnd } from '../parts/format.ts';
import { clients, gateways } from './live.ts';

const wished = signal('');

/** Falls back to all gateways when the chosen one has ended. */
export const chosenGateway = computed(() => (gateways.value.has(wished.value) ? wished.value : ''));

export const chooseGateway = (id: string): void => void (wished.value = id);

/** Whether to show items of this gateway. */
export const isChosen = (gateway: string): boolean =>
  chosenGateway.value === '' || chosenGateway.value === gateway;

/** Whether a screen must say which gateway an item belongs to. */
export const severalGateways = computed(() => gateways.value.size > 1 && chosenGateway.value === '');

/** Who uses it and where it is configured, which is how people know a gateway. */
export function gatewayTitle(id: string): string {
  const gateway = gateways.value.get(id);
  if (gateway === undefined) return 'a gateway that has ended';
  const names = new Set(
    [...clients.value.values()].flatMap((client) =>
      client.gateway === id && client.name !== null && client.transport !== 'console' ? [client.name] : [],
    ),
  );
  const who = names.size > 0 ? [...names].slice(0, 2).join(', ') : gateway.program;
  return `${who} · ${pathEnd(gateway.directory ?? gateway.config, 1)} · ${gateway.pid}`;
}
