import type { HookModule } from '../config/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { printableLine } from '../shared/printable.ts';
import type { Call, Source } from '../gateway/index.ts';
import { Client, Server, SERVER_SHAPE, type JsonObject } from '../protocol/index.ts';
import { addEdit, editedText, Message, type Edit } from '../wire/index.ts';
import { HookThread, type HookName } from './hook-thread.ts';

interface CallHooksOptions {
  readonly modules: readonly HookModule[];
  /** Takes each line that a module prints. */
  readonly print: (line: string) => void;
  /** How long a hook may take, in milliseconds. */
  readonly timeoutMs: number;
}

/** What a hook gets to see of a call. */
interface HookEvent {
  readonly server: string;
  /** The tool by the name that its server gave it. Absent for the result of a task. */
  readonly tool?: string;
  readonly client?: string | undefined;
  readonly arguments: unknown;
}

/** Has modules look at every call of a tool and at its result. The last one has the last word. */
export class CallHooks {
  readonly #threads: readonly { readonly module: HookModule; readonly thread: HookThread }[];

  constructor({ modules, ...options }: CallHooksOptions) {
    this.#threads = modules.map((module) => ({ module, thread: new HookThread({ ...module, ...options }) }));
  }

  /** Passes a call on as the hooks want it, or refuses it. */
  handle(edits: Edit[], call: Call, source: Source, pass: Source['request']): void {
    this.#handle(edits, call, source.name, pass).catch((error: unknown) => call.fail(asFailure(error, call)));
  }

  close(): void {
    for (const { thread } of this.#threads) thread.close();
  }

  async #handle(edits: Edit[], call: Call, server: string, pass: Source['request']): Promise<void> {
    const { params } = JSON.parse(editedText(call.request, edits)) as { params: JsonObject };
    const client = call.session.client.describe?.(call.request).name;
    const isCall = call.method === 'tools/call';
    const before: HookEvent = {
      server,
      ...(isCall && typeof params.name === 'string' ? { tool: params.name } : {}),
      client,
      arguments: params.arguments ?? {},
    };
    const event = isCall ? await this.#before(before, call) : before;
    if (!call.open) return;
    if (this.#threads.some(({ module }) => module.hooks.includes('afterCall')))
      call.reviewBy((answer) => this.#after(answer, event, call));
    pass(event === before ? edits : withArguments(call, edits, JSON.stringify(event.arguments)), call);
  }

  async #before(event: HookEvent, call: Call): Promise<HookEvent> {
    let now = event;
    await this.#each('beforeCall', async (file, run) => {
      const returned = await run(now);
      if (returned === undefined) return;
      const { refuse, arguments: args, ...others } = returned;
      if (typeof refuse === 'string')
        throw refused(`${call.subject()} was not run: ${file} refused it`, refuse);
      if (refuse !== undefined || !isObject(args) || Object.keys(others).length > 0)
        throw misunderstood('beforeCall', file, '{"arguments": {…}} or {"refuse": "reason"}');
      now = { ...now, arguments: args };
    });
    return now;
  }

  /** Never rejects. */
  async #after(answer: Message, event: HookEvent, call: Call): Promise<Message | SwitchboardError> {
    // What a server refused has no result.
    if (answer.has(Server.error) || !answer.has(Server.result)) return answer;
    try {
      const before = (JSON.parse(answer.toString()) as { result: unknown }).result;
      let result = before;
      await this.#each('afterCall', async (file, run) => {
        const returned = await run({ ...event, result });
        if (returned === undefined) return;
        const { refuse, result: changed, ...others } = returned;
        if (typeof refuse === 'string')
          throw refused(`${call.subject()} was run, and ${file} withheld its result`, refuse);
        const isResult =
          isObject(changed) && (changed.content === undefined || Array.isArray(changed.content));
        if (refuse !== undefined || !isResult || Object.keys(others).length > 0)
          throw misunderstood('afterCall', file, '{"result": {"content": […]}} or {"refuse": "reason"}');
        result = changed;
      });
      return result === before ? answer : Message.from({ jsonrpc: '2.0', id: 0, result }, SERVER_SHAPE);
    } catch (error) {
      return asFailure(error, call);
    }
  }

  /** Runs one hook of all modules that have it, one after the other. */
  async #each(
    name: HookName,
    use: (file: string, run: (event: unknown) => Promise<JsonObject | undefined>) => Promise<void>,
  ): Promise<void> {
    for (const { module, thread } of this.#threads) {
      if (!module.hooks.includes(name)) continue;
      const { file } = module;
      await use(file, async (event) => {
        const text = await thread.run(name, event);
        const returned: unknown = text === undefined ? undefined : JSON.parse(text);
        if (returned === undefined || isObject(returned)) return returned;
        throw misunderstood(name, file, 'an object, or nothing');
      });
    }
  }
}

/** The edits with other arguments. */
function withArguments({ request }: Call, edits: readonly Edit[], text: string): Edit[] {
  const given = request.has(Client.arguments);
  const start = given ? request.start(Client.arguments) : request.end(Client.name);
  const end = given ? request.end(Client.arguments) : start;
  const changed = edits.filter((edit) => !(edit.start === start && edit.end === end));
  addEdit(changed, { start, end, with: given ? text : `,"arguments":${text}` });
  return changed;
}

const LONGEST_REASON = 1000;

function refused(what: string, reason: string): SwitchboardError {
  const said = printableLine(reason).slice(0, LONGEST_REASON).trim();
  return new SwitchboardError('HOOK_REFUSED', `${what}${said === '' ? '' : `: ${said.replace(/\.$/, '')}`}.`);
}

function misunderstood(name: HookName, file: string, expected: string): SwitchboardError {
  return new SwitchboardError(
    'HOOK_FAILED',
    `The hook ${name} in ${file} failed: it must return nothing, ${expected}.`,
    { hint: 'Without its consent nothing is passed on. Correct the hook, or remove it.' },
  );
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
