import type { ComponentChildren } from 'preact';
import type { GatewayInfo } from '../../protocol.ts';
import { Select } from '../parts/fields.tsx';
import { chooseGateway, chosenGateway, gatewayTitle } from '../state/gateway-choice.ts';
import { gateways } from '../state/live.ts';

/** Chooses the gateway that the screens show. */
export function GatewaySelect(): ComponentChildren {
  const all = [...gateways.value.values()];
  if (all.length < 2) return null;
  return (
    <Select
      label="Gateway"
      value={chosenGateway.value}
      options={[
        { value: '', title: `All ${all.length} gateways` },
        ...all.map((gateway: GatewayInfo) => ({ value: gateway.id, title: gatewayTitle(gateway.id) })),
      ]}
      onChange={(value) => chooseGateway(value)}
    />
  );
}
