import type { QuickJSHandle } from 'quickjs-emscripten-core';
import { messageOf } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { identifiers, serverIdentifiers } from '../../shared/identifiers.ts';
import type { CallEnd, ScriptOutcome, ThreadData } from '../messages.ts';
import { Thrown, type Interpreter } from './interpreter.ts';
import { prelude, type PreludeControls, type PreludeData, type ThrownError } from './prelude.ts';
import { reportFailure, reportValue, SCRIPT, type ScriptRecord } from './report.ts';
import { stripTypes } from './strip-types.ts';
import { toolValue } from './tool-value.ts';

/** What a sandbox needs from its thread. */
export interface SandboxHost {
  readonly call: (id: number, server: string, tool: string, args: string) => void;
  /** The script has started computing, or is waiting. */
  readonly computing: () => void;
  readonly waiting: () => void;
  readonly ended: (outcome: ScriptOutcome) => void;
}

/** Longest arguments of a call, in UTF-16 code units. */
const MAX_ARGS = 4 * 1024 * 1024;
/** The most that a script may log, in UTF-16 code units. */
const MAX_LOGGED = 256 * 1024;
const MAX_TIMERS = 1000;
/** A longer timer would fire at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** One script, from start to end. It can reach nothing but the tools that it was given. */
export class Sandbox {
  readonly #data: ThreadData;
  readonly #host: SandboxHost;
  readonly #interpreter: Interpreter;
  readonly #controls: QuickJSHandle;
  /** The tools of the running calls. */
  readonly #running = new Map<number, string>();
  readonly #timers = new Map<number, NodeJS.Timeout>();
  readonly #logged: string[] = [];
  readonly #succeeded = new Map<string, number>();
  readonly #notes: string[] = [];
  #loggedChars = 0;
  #calls = 0;
  #cpuMs = 0;
  #ended = false;
  /** The promise that is awaited now. */
  #step: { readonly promise: QuickJSHandle; readonly then: (value: QuickJSHandle) => void } | undefined;
  /** What the script returned, once known. */
  #returned: { readonly json: string | undefined } | undefined;

  constructor(data: ThreadData, interpreter: Interpreter, host: SandboxHost) {
    this.#data = data;
    this.#host = host;
    this.#interpreter = interpreter;
    const functions = interpreter.hostObject({
      call: (id, server, tool, args) => this.#call(Number(id), String(server), String(tool), String(args)),
      print: (line) => this.#print(String(line)),
      startTimer: (id, ms) => this.#startTimer(Number(id), Number(ms)),
      stopTimer: (id) => this.#stopTimer(Number(id)),
      unknownTool: (server, tool) => this.#unknownTool(String(server), String(tool)),
    });
    const start = interpreter.evaluate(`(${prelude.toString()})`, 'prelude');
    this.#controls = interpreter.call(start, functions, JSON.stringify(preludeData(data)));
  }

  /** Starts the script. */
  run(): void {
    this.#enter(() => {
      const plain = stripTypes(this.#data.code);
      this.#step = { promise: this.#begin(plain), then: (done) => this.#describe(done) };
    });
  }

  /** Handles the end of a call. */
  settle(end: CallEnd): void {
    const tool = this.#running.get(end.id);
    if (tool === undefined) return;
    this.#running.delete(end.id);
    const value =
      'response' in end
        ? toolValue(end.response)
        : { ok: false as const, message: end.failure, code: end.code };
    if (value.ok) this.#succeeded.set(tool, (this.#succeeded.get(tool) ?? 0) + 1);
    else if (this.#returned !== undefined)
      this.#notes.push(`A call that the script did not wait for failed: ${tool}: ${value.message}`);
    this.#enter(() => {
      if (value.ok) this.#control('resolve', end.id, value.json);
      else this.#control('reject', end.id, value.message, value.code);
    });
  }

  #begin(code: string): QuickJSHandle {
    try {
      return this.#interpreter.begin(code, SCRIPT);
    } catch (error) {
      // Many scripts `return` at the top level. Inside a function that is allowed, and the lines stay the same.
      if (!(error instanceof Thrown) || this.#explain(error.value).message !== 'return not in a function')
        throw error;
      return this.#interpreter.begin(`await (async () => {${code}\n})()`, SCRIPT);
    }
  }

  /** Turns the value the script returned into text. */
  #describe(done: QuickJSHandle): void {
    const value = this.#interpreter.member(done, 'value');
    this.#step = {
      promise: this.#control('describe', value),
      then: (json) => {
        this.#step = undefined;
        this.#returned = { json: this.#interpreter.string(json) };
      },
    };
  }

  /** Lets the interpreter run until all it can do is wait. */
  #enter(work: () => void): void {
    if (this.#ended) return;
    this.#host.computing();
    const since = performance.now();
    this.#interpreter.deadline = since + this.#data.limits.cpuMs - this.#cpuMs;
    let problem: ThrownError | undefined;
    try {
      work();
      this.#proceed();
    } catch (error) {
      problem = this.#problem(error);
    }
    this.#cpuMs += performance.now() - since;
    if (problem !== undefined) this.#end(reportFailure(problem, this.#record()));
    else if (this.#returned !== undefined && this.#running.size === 0)
      this.#end(reportValue(this.#returned.json, this.#record()));
    else this.#host.waiting();
  }

  #proceed(): void {
    for (;;) {
      this.#interpreter.runJobs();
      const step = this.#step;
      if (step === undefined) return;
      const settled = this.#interpreter.settled(step.promise);
      if (settled?.kind === 'rejected') throw new Thrown(settled.value);
      if (settled === undefined) {
        if (this.#running.size === 0 && this.#timers.size === 0) throw new Stuck();
        return;
      }
      step.then(settled.value);
    }
  }

  #problem(error: unknown): ThrownError {
    const known = error instanceof Thrown ? this.#explain(error.value) : undefined;
    const stack = known?.stack ?? '';
    if (this.#interpreter.interrupted) {
      const { cpuMs } = this.#data.limits;
      return { name: 'Stopped', message: `The script computed for more than ${cpuMs} ms.`, stack };
    }
    if (error instanceof Stuck) return { name: 'Stuck', message: error.message, stack };
    if (known?.message === 'out of memory') {
      const message = `The script needs more than ${this.#data.limits.memoryMb} MiB of memory.`;
      return { name: 'Stopped', message, stack };
    }
    if (known !== undefined) return this.#withHint(known);
    const message = error instanceof RangeError ? 'Too much recursion.' : messageOf(error);
    return { name: 'Stopped', message, stack };
  }

  #withHint(error: ThrownError): ThrownError {
    const missing = /^'?([\w$]+)'? is not defined$/.exec(error.message)?.[1];
    if (error.name !== 'ReferenceError' || missing === undefined) return error;
    const names = [...serverIdentifiers(this.#data.servers.map(({ name }) => name)).values()];
    const hint = didYouMean(missing, names) ?? `There are: ${names.join(', ')}.`;
    return { ...error, message: `${error.message}. ${hint}` };
  }

  #explain(thrown: QuickJSHandle): ThrownError {
    // Inspecting it is our work, and short, so it does not count against the script.
    const { deadline, interrupted } = this.#interpreter;
    this.#interpreter.deadline = performance.now() + EXPLAIN_MS;
    try {
      const explained = this.#interpreter.string(this.#control('explain', thrown));
      if (explained !== undefined) return JSON.parse(explained) as ThrownError;
    } catch {
      if (this.#interpreter.interrupted !== interrupted)
        return { name: 'Error', message: 'What was thrown takes too long to look at.', stack: '' };
      // Otherwise there is no memory left to do it.
    } finally {
      Object.assign(this.#interpreter, { deadline, interrupted });
    }
    return { name: 'InternalError', message: 'out of memory', stack: '' };
  }

  #control(
    name: keyof PreludeControls,
    ...args: readonly (QuickJSHandle | string | number)[]
  ): QuickJSHandle {
    return this.#interpreter.call(this.#interpreter.member(this.#controls, name), ...args);
  }

  #call(id: number, server: string, tool: string, args: string): void {
    const { maxCalls, concurrency } = this.#data.limits;
    if (this.#calls >= maxCalls)
      throw new Error(`The script has made ${maxCalls} calls, which is the limit.`);
    // Scripts can change the built-ins, so nothing that comes out of the interpreter is trusted.
    if (this.#running.size >= concurrency || this.#running.has(id))
      throw new Error('Too many calls at one time.');
    if (args.length > MAX_ARGS)
      throw new Error(`The arguments of ${server}.${tool} are longer than ${MAX_ARGS} characters.`);
    if (!isObject(JSON.parse(args))) throw new Error(`The arguments of ${server}.${tool} must be an object.`);
    this.#calls++;
    this.#running.set(id, `${server}.${tool}`);
    this.#host.call(id, server, tool, args);
  }

  #print(line: string): void {
    const room = MAX_LOGGED - this.#loggedChars;
    if (room <= 0) return;
    this.#loggedChars += line.length + 1;
    this.#logged.push(line.length <= room ? line : `${line.slice(0, room)}… (nothing more is kept)`);
  }

  #startTimer(id: number, ms: number): void {
    if (this.#timers.size >= MAX_TIMERS) throw new Error(`There are ${MAX_TIMERS} timers already.`);
    const fire = (): void => {
      this.#timers.delete(id);
      this.#enter(() => this.#control('fire', id));
    };
    this.#timers.set(id, setTimeout(fire, Math.min(Math.max(ms, 0), LONGEST_TIMER)));
  }

  #stopTimer(id: number): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
  }

  #unknownTool(server: string, tool: string): string {
    const tools = this.#data.servers.find(({ name }) => name === server)?.tools ?? [];
    const hint = didYouMean(tool, tools) ?? 'find_tool finds what there is.';
    return `Server '${server}' has no tool '${tool}'. ${hint}`;
  }

  #record(): ScriptRecord {
    return {
      code: this.#data.code,
      logged: this.#logged,
      succeeded: this.#succeeded,
      notes: this.#notes,
      calls: this.#calls,
      cpuMs: Math.round(this.#cpuMs),
      maxTokens: this.#data.limits.maxTokens,
    };
  }

  #end(outcome: ScriptOutcome): void {
    this.#ended = true;
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#host.ended(outcome);
  }
}

/** How long inspecting an error may take, in milliseconds. */
const EXPLAIN_MS = 200;

/** The script waits for something that nothing can settle any more. */
class Stuck extends Error {
  constructor() {
    super('The script waits for a promise that nothing will settle: no call and no timer is running.');
  }
}

function preludeData({ servers, limits }: ThreadData): PreludeData {
  const globals = serverIdentifiers(servers.map(({ name }) => name));
  return {
    servers: servers.map(({ name, tools }) => ({
      name,
      global: globals.get(name) ?? name,
      tools: [...identifiers(tools)],
    })),
    concurrency: limits.concurrency,
  };
}
