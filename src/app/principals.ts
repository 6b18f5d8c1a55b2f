import type { Caller, ModernEndpoint, ModernPrincipals } from '../doors/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Workspace } from './workspace.ts';

/**
 * What all clients of one principal share. Their protocol version has no sessions, so they are known only by their
 * token.
 */
interface Principal {
  readonly caller: Caller;
  readonly workspace: Workspace;
  readonly endpoint: ModernEndpoint;
  /** Ends its servers. */
  readonly close: () => Promise<void>;
}

export interface PrincipalsOptions {
  readonly log: Logger;
  readonly openWorkspace: (caller: Caller) => Pick<Principal, 'workspace' | 'close'>;
  readonly openEndpoint: (workspace: Workspace, principal: string) => ModernEndpoint;
}

/** The clients of an HTTP door that have no sessions, grouped by principal. Each principal has its own workspace. */
export class Principals implements ModernPrincipals {
  readonly #options: PrincipalsOptions;
  readonly #open = new Map<string, Principal>();

  constructor(options: PrincipalsOptions) {
    this.#options = options;
  }

  endpointOf(caller: Caller): ModernEndpoint {
    return this.#of(caller).endpoint;
  }

  workspaceOf(caller: Caller): Workspace {
    return this.#of(caller).workspace;
  }

  endThose(isRevoked: (caller: Caller) => boolean): void {
    for (const [principal, { caller, endpoint, close }] of this.#open) {
      if (!isRevoked(caller)) continue;
      this.#open.delete(principal);
      endpoint.failAll();
      endpoint.close();
      close().catch((error: unknown) =>
        this.#options.log.error('the servers of a revoked token did not end', { reason: messageOf(error) }),
      );
    }
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ endpoint }) => endpoint.idle()));
  }

  failAll(): void {
    for (const { endpoint } of this.#open.values()) endpoint.failAll();
  }

  /** Ends everything that waits for a client to return. The workspaces end with all the others. */
  close(): void {
    for (const { endpoint } of this.#open.values()) endpoint.close();
  }

  #of(caller: Caller): Principal {
    const { principal } = caller;
    const known = this.#open.get(principal);
    if (known) return known;
    const { workspace, close } = this.#options.openWorkspace(caller);
    const opened = { caller, workspace, close, endpoint: this.#options.openEndpoint(workspace, principal) };
    this.#open.set(principal, opened);
    return opened;
  }
}
