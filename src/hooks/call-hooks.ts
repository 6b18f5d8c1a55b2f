import type { HookModule } from '../config/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import { inLaterTurn } from '../shared/turns.ts';
import type { Call, Source } from '../gateway/index.ts';
import { Client, CLIENT_SHAPE, Server, SERVER_SHAPE } from '../protocol/index.ts';
import {
  addEdit,
  fromChunks,
  MAX_PARSED,
  Message,
  readObject,
  serialize,
  viewsOf,
  type Bytes,
  type Edit,
} from '../wire/index.ts';
import { HookThread, type HookName } from './hook-thread.ts';

interface CallHooksOptions {
  readonly modules: readonly HookModule[];
  /** Receives each line that a module prints. */
  readonly print: (line: string) => void;
  /** How long a hook may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** What a hook sees of a call. */
interface HookEvent {
  readonly server: string;
  /** The tool, by its server's own name. Absent for the result of a task. */
  readonly tool?: string | undefined;
  readonly client?: string | undefined;
}

/** Passes every tool call and its result through the hooks of the modules. The last module has the last word. */
export class CallHooks {
  readonly #threads: readonly { readonly module: HookModule; readonly thread: HookThread }[];

  constructor({ modules, ...options }: CallHooksOptions) {
    this.#threads = modules.map((module) => ({ module, thread: new HookThread({ ...module, ...options }) }));
  }

  /** Passes a call on with the hooks' changes, or refuses it. */
  handle(edits: Edit[], call: Call, source: Source, pass: Source['request']): void {
    this.#handle(edits, call, source.name, pass).catch((error: unknown) => call.fail(asFailure(error, call)));
  }

  close(): void {
    for (const { thread } of this.#threads) thread.close();
  }

  async #handle(edits: Edit[], call: Call, server: string, pass: Source['request']): Promise<void> {
    // It was checked just now and is checked again with its edits; a long one gets a new turn of the event loop.
    if (call.request.length > MAX_PARSED) await new Promise<void>(inLaterTurn);
    const sent =
      edits.length === 0
        ? call.request
        : Message.fromPieces(serialize(call.request, edits).pieces, CLIENT_SHAPE);
    const isCall = call.method === 'tools/call';
    const event: HookEvent = {
      server,
      tool: isCall ? sent.string(Client.name) : undefined,
      client: call.session.client.describe?.(call.request).name,
    };
    const isNull = sent.spells(Client.arguments, NULL);
    const given = (isNull ? undefined : sent.pieces(Client.arguments)) ?? NO_ARGUMENTS;
    const wanted = isCall ? await this.#before(event, given, call) : undefined;
    if (!call.open) return;
    const args = wanted === undefined ? given : viewsOf(wanted, wanted.from, wanted.to);
    if (this.#threads.some(({ module }) => module.hooks.includes('afterCall')))
      call.reviewBy((answer) => this.#after(answer, event, args, call));
    pass(wanted === undefined ? edits : withArguments(call, edits, wanted), call);
  }

  /** The arguments that the hooks want; undefined to leave them unchanged. */
  async #before(event: HookEvent, given: readonly Buffer[], call: Call): Promise<Bytes | undefined> {
    let wanted: Buffer | undefined;
    for (const { file, thread } of this.#having('beforeCall')) {
      const args = wanted === undefined ? given : [wanted];
      const answer = await thread.run('beforeCall', JSON.stringify(event), { arguments: args });
      if (answer === undefined) continue;
      if ('refuse' in answer)
        throw refused(`${call.subject()} was not run: ${file} refused it`, answer.refuse);
      wanted = answer.json;
    }
    if (wanted === undefined) return undefined;
    // Checked here, because a module could tamper with a check in its thread.
    const read = readObject(wanted);
    if (read === undefined) throw new Error('they returned no JSON');
    return read;
  }

  /** Never rejects. */
  async #after(
    answer: Message,
    event: HookEvent,
    args: readonly Buffer[],
    call: Call,
  ): Promise<Message | SwitchboardError> {
    // A call that the server refused has no result.
    const given = answer.pieces(Server.result);
    if (answer.has(Server.error) || given === undefined) return answer;
    try {
      let result = given;
      for (const { file, thread } of this.#having('afterCall')) {
        const wanted = await thread.run('afterCall', JSON.stringify(event), { arguments: args, result });
        if (wanted === undefined) continue;
        if ('refuse' in wanted)
          throw refused(`${call.subject()} was run, and ${file} withheld its result`, wanted.refuse);
        result = [wanted.json];
      }
      return result === given ? answer : Message.fromPieces([BEFORE_RESULT, ...result, END], SERVER_SHAPE);
    } catch (error) {
      return asFailure(error, call);
    }
  }

  /** The modules that have a hook, in the order in which they run. */
  #having(name: HookName): readonly { readonly file: string; readonly thread: HookThread }[] {
    return this.#threads
      .filter(({ module }) => module.hooks.includes(name))
      .map(({ module, thread }) => ({ file: module.file, thread }));
  }
}

/** The edits with other arguments. */
function withArguments({ request }: Call, edits: readonly Edit[], bytes: Bytes): Edit[] {
  const given = request.has(Client.arguments);
  const start = given ? request.start(Client.arguments) : request.end(Client.name);
  const end = given ? request.end(Client.arguments) : start;
  const changed = edits.filter((edit) => !(edit.start === start && edit.end === end));
  const views = viewsOf(bytes, bytes.from, bytes.to);
  const of = fromChunks(given ? views : [BEFORE_ARGUMENTS, ...views]);
  addEdit(changed, { start, end, with: { of, start: of.from, end: of.to } });
  return changed;
}

const NULL = Buffer.from('null');
const NO_ARGUMENTS = [Buffer.from('{}')];
const BEFORE_ARGUMENTS = Buffer.from(',"arguments":');
const BEFORE_RESULT = Buffer.from('{"jsonrpc":"2.0","id":0,"result":');
const END = Buffer.from('}');

const LONGEST_REASON = 1000;

function refused(what: string, reason: string): SwitchboardError {
  const said = printableLine(reason).slice(0, LONGEST_REASON).trim();
  return new SwitchboardError('HOOK_REFUSED', `${what}${said === '' ? '' : `: ${said.replace(/\.$/, '')}`}.`);
}

function asFailure(error: unknown, call: Call): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError(
    'HOOK_FAILED',
    `The hooks could not see ${call.subject()}: ${messageOf(error)}.`,
    {
      cause: error,
    },
  );
}
