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
 * The build of QuickJS. An ES module gets the whole of a CommonJS module, with what it exports inside; what is not unwrapped
 * here is unwrapped later, and the memory that we give it is lost on the way.
 */
const variant =
  (imported as QuickJSSyncVariant & { readonly default?: QuickJSSyncVariant }).default ?? imported;

/** Of the interpreter, in bytes; the stack of its thread has to hold what it needs for so much. */
const STACK_BYTES = 256 * 1024;
const PAGES_PER_MB = 16;
/** What the interpreter is built to begin with. */
const FIRST_PAGES = 256;
/** Jobs that run before it is looked at whether the script has to end. */
const JOBS_AT_ONCE = 100;
/** JS_EVAL_FLAG_ASYNC: allows `await` at the top, and gives a promise of the value of the last expression. */
const ASYNC = 1 << 7;

/** Something that the code in the interpreter threw. */
export class Thrown extends Error {
  readonly value: QuickJSHandle;

  constructor(value: QuickJSHandle) {
    super('The code in the interpreter threw an error.');
    this.value = value;
  }
}

/** What is inside a settled promise; undefined while it is pending. */
export type Settled =
  | { readonly kind: 'fulfilled'; readonly value: QuickJSHandle }
  | { readonly kind: 'rejected'; readonly value: QuickJSHandle };

/** QuickJS with nothing but the language: no modules, no files, no network, no timers. */
export class Interpreter {
  /** When it stops whatever runs, on the performance clock. */
  deadline = Infinity;
  /** Whether it had to stop something. */
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
    // The limit that QuickJS keeps by itself does not count what buffers hold; nothing gets past the size of its memory.
    const wasmMemory = new WebAssembly.Memory({
      initial: FIRST_PAGES,
      maximum: Math.max(FIRST_PAGES, memoryMb * PAGES_PER_MB),
    });
    const module = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmMemory }));
    return new Interpreter(module.newRuntime());
  }

  /** Runs code to its end. */
  evaluate(code: string, file: string): QuickJSHandle {
    return valueOf(this.#context.evalCode(code, file, 0));
  }

  /** Runs code that may wait; resolves with `{ value }` of its last expression. */
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

  /** An object with functions of ours; each gets strings and numbers. */
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

  /** A string; undefined for anything else. */
  string(value: QuickJSHandle): string | undefined {
    return this.#context.typeof(value) === 'string' ? this.#context.getString(value) : undefined;
  }

  /** Runs what promises have led to. */
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

/** What it returns is given to the interpreter where it is a string. */
type HostFunction = (...args: readonly (string | number)[]) => unknown;

function valueOf(result: ReturnType<QuickJSContext['evalCode']>): QuickJSHandle {
  if (result.error !== undefined) throw new Thrown(result.error);
  return result.value;
}
