import { SwitchboardError } from '../shared/errors.ts';
import type { SourceInfo } from '../gateway/index.ts';
import {
  isJsonObject,
  isLegacyVersion,
  LATEST_LEGACY_VERSION,
  Server,
  type JsonObject,
} from '../protocol/index.ts';
import type { Message, Peer } from '../wire/index.ts';
import { errorText } from './error-answer.ts';

export interface Greeting {
  /** What we call ourselves towards servers. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** What the client behind us can do, as it said it: what the server asks for is passed on to it. */
  readonly capabilities: JsonObject;
}

/** Opens the conversation as a client does: `initialize`, and once it is answered `initialized`. */
export function shakeHands(
  peer: Peer,
  server: string,
  { clientInfo, capabilities }: Greeting,
  mask: (text: string) => string,
): Promise<SourceInfo> {
  return new Promise((resolve, reject) => {
    const params = { protocolVersion: LATEST_LEGACY_VERSION, capabilities, clientInfo };
    peer.request('initialize', params, {
      answered: (answer) => {
        try {
          const info = readGreeting(answer, server, mask);
          peer.notify('notifications/initialized');
          resolve(info);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      },
      unanswered: (reason, error) =>
        reject(
          error ??
            new SwitchboardError('START_FAILED', `Server '${server}' did not answer initialize (${reason}).`),
        ),
    });
  });
}

function readGreeting(answer: Message, server: string, mask: (text: string) => string): SourceInfo {
  if (answer.has(Server.error)) {
    const said = mask(errorText(answer));
    throw new SwitchboardError(
      'START_FAILED',
      `Server '${server}' refused initialize: ${said.slice(0, 500)}`,
    );
  }
  const result = answer.value(Server.result);
  const version = isJsonObject(result) ? result.protocolVersion : undefined;
  if (!isJsonObject(result) || !isLegacyVersion(version)) {
    throw new SwitchboardError(
      'START_FAILED',
      `Server '${server}' speaks protocol version ${version === undefined ? 'none' : JSON.stringify(version)}, which Switchboard does not know.`,
      { hint: 'A newer Switchboard or another version of that server may help.' },
    );
  }
  return {
    protocolVersion: version,
    serverInfo: isJsonObject(result.serverInfo) ? result.serverInfo : {},
    capabilities: isJsonObject(result.capabilities) ? result.capabilities : {},
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
  };
}
