import imported from '@jitl/quickjs-singlefile-cjs-release-sync';
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
} from 'quickjs-emscripten-core';

/**
 * The build of QuickJS. An ES module receives a CommonJS module as a whole, with its exports inside. Without unwrapping
 * it here, the library would unwrap it later and lose the memory that we pass.
 */
const variant =
  (imported as QuickJSSyncVariant & { readonly default?: QuickJSSyncVariant }).default ?? imported;

/** Stack of the interpreter, in bytes. The stack of its thread must hold what the interpreter needs for this much. */
const STACK_BYTES = 256 * 1024;
const PAGES_PER_MB = 16;
/** The initial size of its memory; this build of QuickJS requires it. */
const FIRST_PAGES = 256;
/** How many jobs run between two checks whether the script has to end. */
const JOBS_AT_ONCE = 100;
/** JS_EVAL_FLAG_ASYNC: allows top-level `await`, and returns a promise of the value of the last expression. */
const ASYNC = 1 << 7;

/** Something that the code in the interpreter threw. */
export class Thrown extends Error {
  readonly value: QuickJSHandle;

  constructor(value: QuickJSHandle) {
    super('The code in the interpreter threw an error.');
    this.value = value;
  }
}

/** The content of a settled promise; undefined while it is pending. */
export type Settled =
  | { readonly kind: 'fulfilled'; readonly value: QuickJSHandle }
  | { readonly kind: 'rejected'; readonly value: QuickJSHandle };

/** QuickJS with the language alone: no modules, no files, no network, no timers. */
export class Interpreter {
  /** When running code is interrupted, on the performance clock. */
  deadline = Infinity;
  /** Whether code was interrupted. */
  interrupted = false;
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;

  private constructor(runtime: QuickJSRuntime) {
    this.#runtime = runtime;
    runtime.setMaxStackSize(STACK_BYTES);
    runtime.setInterruptHandler(() => {
      if (performance.now() <= this.deadline) return false;
      this.interrupted = true;
      return true;
    });
    this.#context = runtime.newContext();
  }

  static async open(memoryMb: number): Promise<Interpreter> {
    // QuickJS does not count buffers against its own limit; the size of the WebAssembly memory limits everything.
    const wasmMemory = new WebAssembly.Memory({
      initial: FIRST_PAGES,
      maximum: Math.max(FIRST_PAGES, memoryMb * PAGES_PER_MB),
    });
    const module = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory }));
    return new Interpreter(module.newRuntime());
  }

  /** Runs code to completion. */
  evaluate(code: string, file: string): QuickJSHandle {
    return valueOf(this.#context.evalCode(code, file, 0));
  }

  /** Runs code that may await; resolves with `{ value }` of its last expression. */
  begin(code: string, file: string): QuickJSHandle {
    return valueOf(this.#context.evalCode(code, file, ASYNC));
  }

  call(fn: QuickJSHandle, ...args: readonly (QuickJSHandle | string | number)[]): QuickJSHandle {
    const context = this.#context;
    const given = args.map((arg) =>
      typeof arg === 'string'
        ? context.newString(arg)
        : typeof arg === 'number'
          ? context.newNumber(arg)
          : arg,
    );
    return valueOf(context.callFunction(fn, context.undefined, given));
  }

  /** An object with functions of ours, called with strings and numbers only. */
  hostObject(functions: Readonly<Record<string, HostFunction>>): QuickJSHandle {
    const context = this.#context;
    const made = context.newObject();
    for (const [name, run] of Object.entries(functions)) {
      const fn = context.newFunction(name, (...args) => {
        const result = run(...args.map((arg) => this.#primitive(arg)));
        return typeof result === 'string' ? context.newString(result) : undefined;
      });
      context.setProp(made, name, fn);
      fn.dispose();
    }
    return made;
  }

  member(object: QuickJSHandle, name: string): QuickJSHandle {
    return this.#context.getProp(object, name);
  }

  /** The value of a string; undefined for anything else. */
  string(value: QuickJSHandle): string | undefined {
    return this.#context.typeof(value) === 'string' ? this.#context.getString(value) : undefined;
  }

  /** Runs the jobs of settled promises. */
  runJobs(): void {
    while (this.#runtime.hasPendingJob()) {
      const { error } = this.#runtime.executePendingJobs(JOBS_AT_ONCE);
      if (this.interrupted && error !== undefined) throw new Thrown(error);
      error?.dispose();
    }
  }

  settled(promise: QuickJSHandle): Settled | undefined {
    const state = this.#context.getPromiseState(promise);
    if (state.type === 'pending') return undefined;
    return state.type === 'fulfilled'
      ? { kind: 'fulfilled', value: state.value }
      : { kind: 'rejected', value: state.error };
  }

  #primitive(value: QuickJSHandle): string | number {
    return this.#context.typeof(value) === 'number'
      ? this.#context.getNumber(value)
      : this.#context.getString(value);
  }
}

/** Only a string that it returns is passed to the interpreter. */
type HostFunction = (...args: readonly (string | number)[]) => unknown;

function valueOf(result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle {
  if (result.error !== undefined) throw new Thrown(result.error);
  return result.value;
}
