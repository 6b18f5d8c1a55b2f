import type { GatewayWatcher, WatchedGateway } from '../gateway/index.ts';

/**
 * Everything that is notified of events in the gateways: consoles, metrics, traces. Without any, a call costs one extra
 * comparison.
 */
export class Watchers implements WatchedGateway {
  watcher: GatewayWatcher | undefined;
  readonly #all = new Set<GatewayWatcher>();

  add(watcher: GatewayWatcher): void {
    this.#all.add(watcher);
    this.#choose();
  }

  remove(watcher: GatewayWatcher): void {
    this.#all.delete(watcher);
    this.#choose();
  }

  #choose(): void {
    const all = [...this.#all];
    this.watcher = all.length < 2 ? all[0] : everyone(all);
  }
}

function everyone(all: readonly GatewayWatcher[]): GatewayWatcher {
  return {
    called: (call) => all.forEach((each) => each.called(call)),
    clientsChanged: () => all.forEach((each) => each.clientsChanged()),
  };
}
