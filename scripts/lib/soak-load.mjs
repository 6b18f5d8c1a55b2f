/**
 * Constant load on the gateways of a soak test: clients that come and go, servers that are killed, changed
 * configurations.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerFailed, STDIO_VERSIONS, VISITS, visitUntilRevoked } from './soak-clients.mjs';
import { SERVERS, StdioSoakGateway } from './soak-gateway.mjs';

/** How many clients may be active before the next one waits. */
const AT_ONCE = 50;
/** Intervals in milliseconds. */
const EVERY = { call: 40, host: 10_000, revoked: 9000, kill: 5000, change: 7000 };
const MOST_FAULTS = 100;

export class SoakLoad {
  visits = 0;
  /** Calls that failed with an error of the server, as some do after it was killed. */
  unanswered = 0;
  /** What no client should see, as sentences. */
  faults = [];
  #gateways;
  #rate;
  #on = false;

  constructor(gateways, rate) {
    this.#gateways = gateways;
    this.#rate = rate;
  }

  /** Keeps up the load while `work` runs; returns its result. */
  async run(work) {
    this.#on = true;
    const { http, ...stdio } = this.#gateways;
    const running = [
      this.#sendClients(),
      ...Object.entries(stdio).map(([name, gateway]) =>
        this.#repeat(EVERY.call, (n) => this.#note(`call over ${name}`, gateway.call(`stdio ${n}`))),
      ),
      this.#repeat(EVERY.host, (n) => this.#note('host over stdio', visitAsHost(n))),
      this.#repeat(EVERY.revoked, (n) => {
        const work = (target, revoke) => visitUntilRevoked(target, n, revoke);
        return this.#note('revoked token', http.withRevokedToken(`soak-${n}`, work));
      }),
      ...Object.values(this.#gateways).flatMap((gateway) => [
        this.#repeat(EVERY.kill, () => gateway.killServer()),
        this.#repeat(EVERY.change, () => gateway.change()),
      ]),
    ];
    try {
      return await work();
    } finally {
      this.#on = false;
      await Promise.all(running);
    }
  }

  /** Returns to the first configuration, with every server running. */
  async settle() {
    const gateways = Object.values(this.#gateways);
    for (const gateway of gateways) gateway.reset();
    for (const server of SERVERS) {
      for (const gateway of gateways) await retry(() => gateway.call('settled', server));
    }
  }

  async #sendClients() {
    const names = Object.keys(VISITS);
    const running = new Set();
    for (let next = performance.now(); this.#on; next += 1000 / this.#rate) {
      await sleep(Math.max(0, next - performance.now()));
      if (running.size >= AT_ONCE) continue;
      const n = this.visits++;
      const name = names[n % names.length];
      const visit = this.#note(name, VISITS[name](this.#gateways.http.target, n));
      running.add(visit);
      void visit.then(() => running.delete(visit));
    }
    await Promise.all(running);
  }

  async #repeat(ms, work) {
    for (let n = 0; ; n++) {
      for (let waited = 0; waited < ms && this.#on; waited += 200) await sleep(Math.min(ms, 200));
      if (!this.#on) return;
      await work(n);
    }
  }

  async #note(name, visit) {
    try {
      await visit;
    } catch (error) {
      if (error instanceof ServerFailed) this.unanswered++;
      else if (this.faults.length < MOST_FAULTS) this.faults.push(`${name}: ${error.message}`);
    }
  }
}

/** A host that starts a gateway for one call, with a different protocol version each time. */
async function visitAsHost(n) {
  const gateway = new StdioSoakGateway(STDIO_VERSIONS[n % STDIO_VERSIONS.length]);
  try {
    await gateway.ready();
    await gateway.call(`host ${n}`);
    const left = await gateway.stop();
    if (left.length > 0) throw new Error(left.join(', '));
  } finally {
    gateway.dispose();
  }
}

/** A server that was killed does not restart immediately. */
async function retry(work) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 60) throw error;
      await sleep(1000);
    }
  }
}
