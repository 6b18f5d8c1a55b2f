import type { CallDetail, CallInfo, KeptText } from '../../console/index.ts';
import { MANAGEMENT_TOOLS, type ConfiguredServer } from '../../config/index.ts';
import type { Call, Session } from '../../gateway/index.ts';
import { Client } from '../../protocol/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { plainLine } from '../../shared/printable.ts';
import { NO_CALLS, type CallCounts } from './server-info.ts';
import { hiddenText, type Hidden } from './hidden-text.ts';

/** How many calls are remembered, and the total size of their arguments and results, in UTF-16 code units. */
const MOST_CALLS = 2000;
const MOST_TEXT = 16 * 1024 * 1024;
/** The longest arguments and results that are kept, in UTF-16 code units. */
const LONGEST_ARGUMENTS = 16 * 1024;
const LONGEST_RESULT = 64 * 1024;

export interface CallRecorderOptions {
  /** The id of the gateway. */
  readonly gateway: string;
  readonly env: NodeJS.ProcessEnv;
  readonly clientId: (session: Session) => string;
  /** The servers that a call to this server may involve; with undefined, a call that may involve any. */
  readonly definitions: (server: string | undefined) => readonly ConfiguredServer[];
  /** Called when a call has begun or ended. */
  readonly changed: (call: string) => void;
}

interface RecordedCall {
  info: CallInfo;
  readonly call: Call | undefined;
  arguments: KeptText | null;
  result: KeptText | null;
}

/** Records calls while a console watches: in memory, without secrets, up to a limit. */
export class CallRecorder {
  readonly #options: CallRecorderOptions;
  readonly #calls = new Map<string, RecordedCall>();
  readonly #counts = new Map<string, CallCounts>();
  readonly #seen = new WeakSet<Call>();
  #text = 0;
  #lastId = 0;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
  }

  /** A call is about to be routed. */
  begin(call: Call): void {
    // This runs again for a call that a user had to approve first.
    if (this.#seen.has(call)) return;
    this.#seen.add(call);
    const id = String(++this.#lastId);
    const { session, method, request } = call;
    const since = performance.now();
    const description = session.keeper.client.describe?.();
    const info: CallInfo = {
      gateway: this.#options.gateway,
      id,
      client: this.#options.clientId(session),
      clientName: description?.name ?? null,
      server: null,
      method: plainLine(method).slice(0, 200),
      name: nameOf(call),
      subtool: null,
      at: Date.now(),
      requestBytes: request.length,
      ms: null,
      outcome: null,
      bytes: null,
    };
    const recorded: RecordedCall = { info, call, arguments: null, result: null };
    this.#calls.set(id, recorded);
    const { onEnd } = call;
    call.onEnd = (outcome, bytes, answer) => {
      onEnd?.(outcome, bytes, answer);
      this.#end(
        id,
        recorded,
        { outcome, bytes, ms: Math.round((performance.now() - since) * 10) / 10 },
        answer,
      );
    };
    this.#dropOldest();
    this.#options.changed(id);
  }

  /** A recorded call as it is now; undefined if it was forgotten. */
  info(id: string): CallInfo | undefined {
    const recorded = this.#calls.get(id);
    return recorded && this.#current(recorded);
  }

  /** All remembered calls, oldest first. */
  infos(): CallInfo[] {
    return [...this.#calls.values()].map((recorded) => this.#current(recorded));
  }

  detail(id: string): CallDetail {
    const recorded = this.#find(id);
    const info = this.#current(recorded);
    const kept = recorded.call === undefined ? recorded.arguments : this.#argumentsOf(recorded.call, info);
    return { ...info, arguments: kept, result: recorded.result };
  }

  cancel(id: string): void {
    const { call } = this.#find(id);
    call?.abort(
      new SwitchboardError('CANCELLED', `${call.subject()} was cancelled in the console.`),
      'It was cancelled in the console.',
    );
  }

  countsOf(server: string): CallCounts {
    return this.#counts.get(server) ?? NO_CALLS;
  }

  /** How many calls of a client are running. */
  running(client: string): number {
    let count = 0;
    for (const { info, call } of this.#calls.values())
      if (call !== undefined && info.client === client) count++;
    return count;
  }

  #find(id: string): RecordedCall {
    const recorded = this.#calls.get(id);
    if (recorded !== undefined) return recorded;
    throw new SwitchboardError('CALL_UNKNOWN', 'This call is not remembered any more.', {
      hint: 'Calls are kept in memory, only so many of them, and only while a console watches.',
    });
  }

  /** A call's server is known only once the call is routed. */
  #current(recorded: RecordedCall): CallInfo {
    const { call, info } = recorded;
    if (call === undefined || (info.server !== null && call.subtool === undefined)) return info;
    const server = call.source?.name ?? null;
    if (server !== null && info.server === null) this.#count(server, { total: 1, running: 1 });
    recorded.info = { ...info, server, subtool: subtoolOf(call) };
    return recorded.info;
  }

  #end(
    id: string,
    recorded: RecordedCall,
    how: Pick<CallInfo, 'outcome' | 'bytes' | 'ms'>,
    answer: (most: number) => string,
  ): void {
    const { call } = recorded;
    if (call === undefined) return;
    const info = this.#current(recorded);
    const hidden = this.#hiddenOf(info.server);
    const ended: RecordedCall = {
      info: { ...info, ...how },
      call: undefined,
      arguments: this.#argumentsOf(call, info),
      result: resultOf(answer(LONGEST_RESULT + SLACK), how.bytes ?? 0, hidden),
    };
    if (info.server !== null)
      this.#count(info.server, {
        running: -1,
        failed: how.outcome === 'ok' || how.outcome === 'cancelled' ? 0 : 1,
      });
    if (!this.#calls.has(id)) return;
    this.#calls.set(id, ended);
    this.#text += textLength(ended);
    this.#dropOldest();
    this.#options.changed(id);
  }

  #argumentsOf(call: Call, { server, name }: CallInfo): KeptText | null {
    // The command line of a program is never shown.
    if (server === null && MANAGEMENT_TOOLS.some((tool) => tool === name)) return null;
    const slot = call.method === 'tools/call' ? Client.arguments : Client.params;
    const text = call.request.text(slot, LONGEST_ARGUMENTS + SLACK);
    if (text === undefined) return null;
    const length = call.request.end(slot) - call.request.start(slot);
    return hiddenText(text, length, LONGEST_ARGUMENTS, this.#hiddenOf(server));
  }

  #hiddenOf(server: string | null): Hidden {
    return { servers: this.#options.definitions(server ?? undefined), env: this.#options.env };
  }

  #count(server: string, { total = 0, failed = 0, running = 0 }: Partial<CallCounts>): void {
    const before = this.countsOf(server);
    this.#counts.set(server, {
      total: before.total + total,
      failed: before.failed + failed,
      running: Math.max(0, before.running + running),
    });
  }

  #dropOldest(): void {
    for (const [id, recorded] of this.#calls) {
      if (this.#calls.size <= MOST_CALLS && this.#text <= MOST_TEXT) return;
      this.#calls.delete(id);
      this.#text -= textLength(recorded);
    }
  }
}

/** How much is read beyond the longest text, so that a secret at the cut is recognized as a whole. */
const SLACK = 4096;

function textLength({ arguments: args, result, call }: RecordedCall): number {
  return call === undefined ? (args?.text.length ?? 0) + (result?.text.length ?? 0) : 0;
}

/** An error of ours is plain text; a call that its client cancelled has no result. */
function resultOf(text: string, length: number, hidden: Hidden): KeptText | null {
  if (text === '') return null;
  if (text.startsWith('{')) return hiddenText(text, length, LONGEST_RESULT, hidden);
  const error = JSON.stringify({ error: text });
  return hiddenText(error, error.length, LONGEST_RESULT, hidden);
}

function nameOf({ request, method }: Call): string | null {
  const name =
    method === 'tools/call' || method === 'prompts/get'
      ? request.string(Client.name)
      : method.startsWith('resources/')
        ? request.string(Client.uri)
        : undefined;
  return name === undefined ? null : plainLine(name.slice(0, 500));
}

function subtoolOf({ subtool }: Call): string | null {
  return subtool === undefined ? null : plainLine(subtool).slice(0, 200);
}
