import { peerFacts, type PeerService } from './peers.ts';

export interface ServiceEnvironment {
  /** Of the command that starts it. */
  readonly inherited: NodeJS.ProcessEnv;
  readonly profile: Readonly<Record<string, string>>;
  /** `services.<name>.env`. */
  readonly service: Readonly<Record<string, string>>;
  /** What we say about the service. Nothing overrides it. */
  readonly own: Readonly<Record<string, string>>;
  readonly peers: readonly PeerService[];
}

/** The environment of a service; what stands later counts. */
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
 * A service may itself run `switchyard up`: what it was told about itself must not be told to the services it starts,
 * above all not its cookie. The same holds for the marks by which a gateway knows the processes that it has to end.
 */
function isOfAnotherRun(name: string): boolean {
  return name === 'SWITCHYARD' || name.startsWith('SWITCHYARD_') || name.startsWith('SWITCHBOARD_RUN_');
}
