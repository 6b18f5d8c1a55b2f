import type { ComponentChildren } from 'preact';
import type { ClientInfo, GatewayInfo } from '../../protocol.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { formatBytes, formatDuration, plural } from '../parts/format.ts';
import { Fact, Facts } from '../parts/layout.tsx';
import { now } from '../state/clock.ts';
import { gatewayTitle } from '../state/gateway-choice.ts';
import { clients, gateways } from '../state/live.ts';
import { actAndTell } from '../state/messages.ts';

/** All running gateways, with their clients. */
export const GatewaysDialog = ({ onClose }: { onClose: () => void }): ComponentChildren => (
  <Dialog title="Gateways" wide onClose={onClose}>
    {[...gateways.value.values()].map((gateway) => (
      <GatewayPart key={gateway.id} gateway={gateway} />
    ))}
  </Dialog>
);

function GatewayPart({ gateway }: { gateway: GatewayInfo }): ComponentChildren {
  const { id, program, pid, since, config, directory, url, memory, live, serving } = gateway;
  const own = [...clients.value.values()].filter((client) => client.gateway === id);
  return (
    <section class="gateway" aria-label={`Gateway ${pid}`}>
      <header class="section-head">
        <h3>{gatewayTitle(id)}</h3>
        {live ? (
          <Button
            icon="reload"
            changes
            title="Read the configuration files again"
            onClick={() => actAndTell('reload', 'the configuration', 'gateways.reload', { gateway: id })}
          >
            Reload configuration
          </Button>
        ) : null}
      </header>
      {live ? null : (
        <p class="muted">
          This gateway is an earlier version. You can see its servers, but not change them. Restart it.
        </p>
      )}
      <Facts>
        <Fact name="Program">
          {program}
          {serving ? ', serves this page' : ''}
        </Fact>
        <Fact name="Process">{pid}</Fact>
        <Fact name="Uptime">{formatDuration(now.value - since)}</Fact>
        <Fact name="Memory">{formatBytes(memory)}</Fact>
      </Facts>
      <p class="muted">
        <code>{config}</code>
        {directory === null || config.startsWith(directory) ? null : (
          <>
            {' '}
            in <code>{directory}</code>
          </>
        )}
        {url === null ? null : (
          <>
            , clients connect to <code>{url}</code>
          </>
        )}
      </p>
      <ul class="gateway-clients">
        {own.map((client) => (
          <ClientPart key={client.id} client={client} />
        ))}
        {own.length === 0 ? <li class="muted">No client is connected.</li> : null}
      </ul>
    </section>
  );
}

const ClientPart = ({ client }: { client: ClientInfo }): ComponentChildren => (
  <li>
    <strong>
      {client.name ?? client.id} {client.version ?? ''}
    </strong>{' '}
    <span class="muted">
      {client.transport}
      {client.protocolVersion === null ? '' : `, protocol ${client.protocolVersion}`}
      {client.principal === null ? '' : `, token ${client.principal}`}
      {client.capabilities.length === 0 ? '' : `, offers ${client.capabilities.join(', ')}`}
      {client.runningCalls === 0 ? '' : `, ${plural(client.runningCalls, 'running call')}`}
    </span>
  </li>
);
