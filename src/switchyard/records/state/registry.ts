import { readdirSync } from 'node:fs';
import { SwitchboardError } from '../../../shared/errors.ts';
import { makeHome, type Home } from './home.ts';
import { loadState, type LoadedState } from './load.ts';
import type { State } from './records.ts';
import { quarantineState, serialise } from './write.ts';

/** The state of this home: readable at any time, changed by one process at a time. */
export interface Registry {
  readonly home: Home;
  /** The current state. Never writes or creates anything. The result is shared, so it must not be modified. */
  read(): Shown<State>;
  /**
   * Reads the state, lets `work` change it, and writes the whole file in one step if anything changed; no other process
   * writes meanwhile. If `work` throws, nothing is written. It must be synchronous and must not take the lock of a
   * project, which is always taken first.
   */
  change<T>(work: (state: State) => T): Promise<T>;
  /**
   * Repairs a damaged or lost file, as `change` does. Call it before acting on what `read` returns: treating a broken
   * file as empty would start running services a second time.
   */
  repair(): Promise<void>;
  /** Problems found at the last read, and repairs made through us, as sentences. */
  readonly warnings: readonly string[];
}

export function openRegistry(home: Home): Registry {
  let warnings: readonly string[] = [];
  /** The last result: a command reads several times, usually with the same content. */
  let known: LoadedState | undefined;
  /** Kept, because the next read finds no problem and would not report the repair. */
  const repairs: string[] = [];

  function read(): Shown<State> {
    known = loadState(home.stateFile, known);
    warnings = known.warnings;
    return known.state;
  }

  async function change<T>(work: (state: State) => T): Promise<T> {
    // Most commands only read.
    const { withLock } = await import('../../../shared/lock.ts');
    return withLock(home.lockName('state'), () => changeAlone(work), { what: 'writing the state' });
  }

  async function changeAlone<T>(work: (state: State) => T): Promise<T> {
    const { writeFileAtomic } = await import('../../../shared/write-file.ts');
    makeHome(home);
    const { state, text, damaged, warnings: found } = loadState(home.stateFile);
    warnings = found;
    if (state.version > 1) throw newer(home.stateFile, state.version);
    let before = text ?? serialise(state);
    const lost = isLost(home, text);
    if (damaged || lost) {
      const aside = lost ? [] : [`The unreadable file is kept in ${quarantineState(home)}.`];
      // Rare, and loads half of the program.
      const { rebuild } = await import('./rebuild.ts');
      repairs.push(...found, ...aside, ...(await rebuild(home, state)));
      warnings = [];
      before = serialise(state);
      // Immediately, whether or not the work succeeds: until then the broken file remains, and the next command would
      // repair it again.
      writeFileAtomic(home.stateFile, before);
    }
    const result = work(state);
    const after = serialise(state);
    if (after !== before) writeFileAtomic(home.stateFile, after);
    return result;
  }

  async function repair(): Promise<void> {
    const { damaged, text, state } = (known = loadState(home.stateFile, known));
    // Before anything is stopped or started that could not be recorded.
    if (state.version > 1) throw newer(home.stateFile, state.version);
    if (damaged || isLost(home, text)) await change(() => undefined);
  }

  return {
    home,
    read,
    change,
    repair,
    get warnings() {
      return [...repairs, ...warnings];
    },
  };
}

/** Whether the state is missing although ports are leased, so it was deleted. */
function isLost({ ports }: Home, text: string | undefined): boolean {
  if (text !== undefined) return false;
  try {
    return readdirSync(ports).length > 0;
  } catch {
    return false;
  }
}

function newer(file: string, version: number): SwitchboardError {
  return new SwitchboardError(
    'STATE_NEWER',
    `${file} was written by a newer Switchyard (its version is ${version}, this one knows 1), so it is not changed.`,
    { hint: 'Update Switchyard, or use a separate home with SWITCHYARD_HOME.' },
  );
}

/** A deeply read-only value. */
type Shown<T> = T extends object ? { readonly [K in keyof T]: Shown<T[K]> } : T;
