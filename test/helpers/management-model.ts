import fc from 'fast-check';
import { expect } from 'vitest';
import { failed, startMux, type ListedServer, type Mux } from './management.ts';
import { processesWith } from './processes.ts';
import { responseText, textOf, type RpcMessage } from './raw-client.ts';
import { nodeServer } from './temp-project.ts';
import { until } from './until.ts';

export interface ModelRunOptions {
  /** Determines which operations and calls are made. Their order in time depends on the machine. */
  readonly seed: number;
  /** The number of operations, in steps of one to five at the same time. */
  readonly operations: number;
  /** How many calls are in flight at any time. */
  readonly callers: number;
  /** Called after the first `warmUp` operations, and at the end, before the gateway ends. */
  readonly warmUp?: number;
  readonly atRest?: (mux: Mux, when: 'warm' | 'over') => Promise<void> | void;
}

/** Statistics that show whether the run was worthwhile. */
export interface ModelRun {
  readonly operations: Readonly<Record<string, number>>;
  readonly answered: number;
  readonly refused: number;
}

/** A server as the model sees it. */
type State =
  | { readonly kind: 'absent' }
  | { readonly kind: 'running'; readonly pid: number }
  | { readonly kind: 'crashed' };

interface Planned {
  readonly kind: 'add' | 'remove' | 'reload' | 'kill' | 'call';
  readonly name: string;
}

/** The outcome of an operation. `ok` with the process that it started, or that responded. */
interface Done extends Planned {
  readonly outcome: 'ok' | 'refused';
  readonly pid: number;
}

const NAMES = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot', 'golf', 'hotel'];
const OWN_TOOLS = ['add_server', 'remove_server', 'reload_server', 'list_servers'];
const ABSENT: State = { kind: 'absent' };

/** All valid errors for a call that is not run; each names its server. */
const CLEAN =
  /^Unknown tool: "(\w+)__who"\.|"(\w+)__who" is no longer available: its server '\2' (was removed|has crashed|no longer has it)|^Tool 'who' of server '(\w+)' was not (run|answered)[:.] .*'\4'/;

const someName = fc.constantFrom(...NAMES);
const someStep: fc.Arbitrary<Planned[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 5, arbitrary: fc.constant('add' as const) },
      { weight: 2, arbitrary: fc.constant('remove' as const) },
      { weight: 2, arbitrary: fc.constant('reload' as const) },
      { weight: 2, arbitrary: fc.constant('kill' as const) },
      { weight: 3, arbitrary: fc.constant('call' as const) },
    ),
    name: someName,
  }),
  { minLength: 1, maxLength: 5, size: 'max' },
);
/** A call: mostly to a running server, mostly short. A long one takes longer than a removal waits. */
const someCall = fc.record({
  name: someName,
  anyone: fc.integer({ min: 1, max: 20 }).map((n) => n === 1),
  ms: fc.oneof(
    { weight: 600, arbitrary: fc.integer({ min: 0, max: 100 }) },
    { weight: 1, arbitrary: fc.constant(60_000) },
  ),
});

/**
 * Adds, removes, reloads, kills and calls servers of eight names at random, several at the same time, while others call
 * them continuously. After every step, the listed servers must match some order of the operations, each with its actual
 * outcome; every call must be answered once, by the right server or with an error that names it; and nothing may be
 * left at the end.
 */
export async function runModel(options: ModelRunOptions): Promise<ModelRun> {
  const { seed, callers, warmUp = Infinity, atRest } = options;
  const mux = await startMux({ deadline: 90_000 });
  const run = new Run(mux, fc.sample(someCall, { seed: seed + 1, numRuns: 4999 }));
  const calling = Array.from({ length: callers }, () => run.callOnAndOn());
  let done = 0;
  let step = 0;
  for (const planned of fc.sample(someStep, { seed, numRuns: options.operations })) {
    const operations = planned.slice(0, options.operations - done);
    if (operations.length === 0) break;
    step++;
    const before = run.describe();
    try {
      await Promise.race([run.step(operations), ...calling]);
    } catch (error) {
      const shown = operations.map(({ kind, name }) => `${kind} ${name}`).join(', ');
      throw new Error(`Seed ${seed}, step ${step} (${shown}) after ${before}: ${(error as Error).message}`, {
        cause: error,
      });
    }
    if (done < warmUp && done + operations.length >= warmUp) await atRest?.(mux, 'warm');
    done += operations.length;
  }
  await run.finish(calling);
  await atRest?.(mux, 'over');
  expect(await mux.client.close()).toMatchObject({ code: 0 });
  expect(processesWith(mux.client.marker)).toEqual([]);
  expect(mux.client.stderr).not.toMatch(/a bug in|Warning:/);
  return { operations: run.count, answered: run.answered, refused: run.refused };
}

class Run {
  readonly count: Record<string, number> = {};
  answered = 0;
  refused = 0;
  readonly #mux: Mux;
  readonly #calls: readonly { name: string; anyone: boolean; ms: number }[];
  readonly #model = new Map<string, State>(NAMES.map((name) => [name, ABSENT]));
  /** Every process that was reported for each server. */
  readonly #pids = new Map<string, Set<number>>(NAMES.map((name) => [name, new Set()]));
  /** The processes that have answered calls. */
  readonly #answerers = new Map<string, Set<number>>(NAMES.map((name) => [name, new Set()]));
  /** The servers killed in this step. */
  readonly #killed = new Set<string>();
  #nextCall = 0;
  #tags = 0;
  #over = false;

  constructor(mux: Mux, calls: readonly { name: string; anyone: boolean; ms: number }[]) {
    this.#mux = mux;
    this.#calls = calls;
  }

  describe(): string {
    return [...this.#model].map(([name, { kind }]) => `${name} ${kind}`).join(', ');
  }

  /** One caller: always has a call in flight. Rejects if a response is wrong. */
  async callOnAndOn(): Promise<void> {
    while (!this.#over) {
      const { name, anyone, ms } = this.#calls[this.#nextCall++ % this.#calls.length]!;
      await this.#call(anyone ? name : this.#oneThatRuns(name), ms);
    }
    await new Promise(() => undefined);
  }

  /** Carries out all of these at the same time and waits until the servers match the result. */
  async step(operations: readonly Planned[]): Promise<void> {
    this.#killed.clear();
    const done = await Promise.all(operations.map((operation) => this.#do(operation)));
    const possible = new Map(
      NAMES.map((name) => [
        name,
        statesAfter(
          this.#model.get(name)!,
          done.filter((each) => each.name === name),
        ),
      ]),
    );
    for (const [name, states] of possible) {
      const shown = done.filter((each) => each.name === name).map(describeDone);
      if (states.length === 0) throw new Error(`No order explains ${shown.join(', ')}.`);
    }
    let listed: ListedServer[] = [];
    // A kill is noticed with a delay.
    await until(
      async () => {
        listed = await this.#mux.servers();
        return this.#agrees(listed, possible);
      },
      {
        what: 'the servers to be as they must be',
        seen: () => `${JSON.stringify(listed)}, possible were ${JSON.stringify([...possible])}`,
      },
    );
    const tools = await this.#mux.tools();
    expect(tools.slice(0, 4)).toEqual(OWN_TOOLS);
    expect(tools.slice(4)).toEqual(listed.flatMap((server) => server.tools));
  }

  /** Removes all servers; every call must have been answered, and no process may be running any more. */
  async finish(calling: readonly Promise<void>[]): Promise<void> {
    const { client } = this.#mux;
    expect(client.ledger.unanswered().length).toBeGreaterThanOrEqual(calling.length);
    this.#over = true;
    for (const [name, { kind }] of this.#model) {
      if (kind !== 'absent') expect(failed(await this.#mux.remove(name))).toBe(false);
    }
    const settled = client.waitUntil(
      () => (client.ledger.unanswered().length === 0 ? true : undefined),
      'the last calls to be answered',
    );
    await Promise.race([settled, ...calling]);
    expect(await this.#mux.servers()).toEqual([]);
    expect(await this.#mux.tools()).toEqual(OWN_TOOLS);
    expect(client.ledger.unanswered()).toEqual([]);
    expect(client.ledger.doubled()).toEqual([]);
    expect(client.ledger.strays).toEqual([]);
    for (const [name, pids] of this.#answerers) {
      expect(
        [...pids].filter((pid) => !this.#pids.get(name)!.has(pid)),
        `who answered for ${name}`,
      ).toEqual([]);
    }
    await until(() => processesWith(client.marker).length === 1, {
      what: 'only the gateway to be left',
      seen: () => JSON.stringify(processesWith(client.marker)),
    });
  }

  async #do({ kind, name }: Planned): Promise<Done> {
    this.count[kind] = (this.count[kind] ?? 0) + 1;
    switch (kind) {
      case 'add':
        return this.#managed(
          { kind, name },
          await this.#mux.add(name, nodeServer('named', `--name=${name}`)),
          /already/,
        );
      case 'remove':
        return this.#managed({ kind, name }, await this.#mux.remove(name), /No server named/);
      case 'reload':
        return this.#managed({ kind, name }, await this.#mux.reload(name), /No server named/);
      case 'kill': {
        const state = this.#model.get(name)!;
        const pid = state.kind === 'running' ? state.pid : 0;
        if (pid > 0) {
          this.#killed.add(name);
          kill(pid);
        }
        return { kind, name, outcome: 'ok', pid };
      }
      case 'call': {
        const pid = await this.#call(name, 20);
        return { kind, name, outcome: pid === undefined ? 'refused' : 'ok', pid: pid ?? 0 };
      }
    }
  }

  #managed(operation: Planned, response: RpcMessage, refusal: RegExp): Done {
    if (failed(response)) {
      const text = responseText(response);
      if (!refusal.test(text) || !text.includes(`"${operation.name}"`))
        throw new Error(`${operation.kind} ${operation.name} was answered: ${text}`);
      return { ...operation, outcome: 'refused', pid: 0 };
    }
    const server: ListedServer | undefined = response.result.structuredContent.server;
    if (server) this.#pids.get(operation.name)!.add(server.pid);
    return { ...operation, outcome: 'ok', pid: server?.pid ?? 0 };
  }

  /** The process that responded; undefined if the call was refused, which must name the server. */
  async #call(name: string, ms: number): Promise<number | undefined> {
    const tag = `call-${++this.#tags}`;
    const response = await this.#mux.client.call(`${name}__who`, { tag, ms });
    if (failed(response)) {
      this.refused++;
      const text = responseText(response);
      const named = CLEAN.exec(text);
      if ((named?.[1] ?? named?.[2] ?? named?.[4]) !== name)
        throw new Error(`A call of ${name} was answered: ${text}`);
      // Removing or reloading a server lets short calls finish.
      if (
        ms < 1000 &&
        !this.#killed.has(name) &&
        /was not answered: .*(is being reloaded|was removed)/.test(text)
      )
        throw new Error(`A call of ${name} for ${ms} ms was cut off: ${text}`);
      return undefined;
    }
    this.answered++;
    const answer = JSON.parse(textOf(response));
    if (answer.name !== name || answer.tag !== tag)
      throw new Error(`${tag} of ${name} got the answer ${textOf(response)}`);
    this.#answerers.get(name)!.add(answer.pid);
    return answer.pid;
  }

  /** The server itself if it is running, else the next one that is. */
  #oneThatRuns(name: string): string {
    const first = NAMES.indexOf(name);
    const inTurn = NAMES.map((_, index) => NAMES[(first + index) % NAMES.length]!);
    return inTurn.find((each) => this.#model.get(each)!.kind === 'running') ?? name;
  }

  /** Whether the listed servers are possible; if so, they become the state of the model. */
  #agrees(listed: readonly ListedServer[], possible: ReadonlyMap<string, readonly State[]>): boolean {
    const found = new Map<string, State>(NAMES.map((name) => [name, ABSENT]));
    for (const server of listed) {
      const { name, status, pid, tools } = server;
      if (status !== 'running' && status !== 'crashed') return false;
      const right = status === 'running' ? [`${name}__who`] : [];
      if (JSON.stringify(tools) !== JSON.stringify(right)) return false;
      if (status === 'crashed' && (pid !== 0 || !server.error?.includes(`'${name}'`))) return false;
      found.set(name, status === 'running' ? { kind: 'running', pid } : { kind: 'crashed' });
    }
    for (const [name, state] of found) {
      const text = JSON.stringify(state);
      if (!possible.get(name)!.some((each) => JSON.stringify(each) === text)) return false;
    }
    for (const [name, state] of found) this.#model.set(name, state);
    return true;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It was being stopped, and has already ended.
  }
}

function describeDone({ kind, name, outcome, pid }: Done): string {
  return `${kind} ${name} ${outcome}${pid > 0 ? ` ${pid}` : ''}`;
}

/** Every state that a server may be in after these operations, whatever order they really ran in. */
function statesAfter(state: State, done: readonly Done[]): State[] {
  if (done.length === 0) return [state];
  return done.flatMap((operation, index) => {
    const next = after(state, operation);
    return next === undefined ? [] : statesAfter(next, done.toSpliced(index, 1));
  });
}

/** The state after one operation with this outcome; undefined if it cannot have had it. */
function after(state: State, { kind, outcome, pid }: Done): State | undefined {
  const absent = state.kind === 'absent';
  switch (kind) {
    case 'add':
      if (outcome === 'ok') return absent ? { kind: 'running', pid } : undefined;
      return absent ? undefined : state;
    case 'remove':
      return outcome === 'ok' ? (absent ? undefined : ABSENT) : absent ? state : undefined;
    case 'reload':
      if (outcome === 'ok') return absent ? undefined : { kind: 'running', pid };
      return absent ? state : undefined;
    case 'kill':
      return state.kind === 'running' && state.pid === pid ? { kind: 'crashed' } : state;
    case 'call':
      if (outcome === 'ok') return state.kind === 'running' && state.pid === pid ? state : undefined;
      return state.kind === 'running' ? undefined : state;
  }
}

/** The seed from the environment, to repeat a failed run, or else the given one. Prints it. */
export function chosenSeed(fallback: number): number {
  const seed = process.env.TEST_SEED === undefined ? fallback : Number(process.env.TEST_SEED);
  console.log(`seed ${seed} (TEST_SEED=${seed} does the same again)`);
  return seed;
}
