import { peerFacts, type PeerService } from './peers.ts';

export interface ServiceEnvironment {
  /** The environment of the command that starts it. */
  readonly inherited: NodeJS.ProcessEnv;
  readonly profile: Readonly<Record<string, string>>;
  /** `services.<name>.env`. */
  readonly service: Readonly<Record<string, string>>;
  /** Variables that describe the service. Nothing overrides them. */
  readonly own: Readonly<Record<string, string>>;
  readonly peers: readonly PeerService[];
}

/** The environment of a service; later sources override earlier ones. */
export function composeEnvironment({
  inherited,
  profile,
  service,
  own,
  peers,
}: ServiceEnvironment): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(inherited)) {
    if (value !== undefined && !isOfAnotherRun(name)) env[name] = value;
  }
  Object.assign(env, profile, service);
  for (const [service, fact, value] of peerFacts(peers)) {
    env[`SWITCHYARD_${service}_${fact}`.toUpperCase().replaceAll('-', '_')] = value;
  }
  return Object.assign(env, own);
}

/**
 * A service may itself run `switchyard up`: variables that describe it, above all its cookie, must not be passed to the
 * services it starts. The same applies to the cookies of a gateway for its own processes.
 */
function isOfAnotherRun(name: string): boolean {
  return name === 'SWITCHYARD' || name.startsWith('SWITCHYARD_') || name.startsWith('SWITCHBOARD_RUN_');
}
