import type { ClientInfo } from '../../console/index.ts';
import type { Session } from '../../gateway/index.ts';
import { plainLine } from '../../shared/printable.ts';
import { TrialClient } from './trial-client.ts';

export type ClientTransport = ClientInfo['transport'];

/** A client as a console shows it. What the client says about itself is not trusted. */
export function clientInfo(
  { client }: Session,
  {
    gateway,
    id,
    transport,
    running,
  }: { gateway: string; id: string; transport: ClientTransport; running: number },
): ClientInfo {
  const { name, version, protocolVersion } = client.describe?.() ?? {};
  const shown = (text: string | undefined): string | null => (text === undefined ? null : plainLine(text));
  return {
    gateway,
    id,
    name: shown(name),
    version: shown(version),
    protocolVersion: shown(protocolVersion),
    transport: client instanceof TrialClient ? 'console' : transport,
    principal: null,
    capabilities: Object.keys(client.capabilities).map((each) => plainLine(each).slice(0, 100)),
    runningCalls: running,
  };
}
