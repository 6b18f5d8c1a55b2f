import type { HookModule } from '../config/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import type { Call, Source } from '../gateway/index.ts';
import { Client, CLIENT_SHAPE, Server, SERVER_SHAPE } from '../protocol/index.ts';
import { addEdit, editedText, Message, readObject, type Edit } from '../wire/index.ts';
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
  readonly tool?: string | undefined;
  readonly client?: string | undefined;
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
    const sent =
      edits.length === 0 ? call.request : Message.fromText(editedText(call.request, edits), CLIENT_SHAPE);
    const isCall = call.method === 'tools/call';
    const event: HookEvent = {
      server,
      tool: isCall ? sent.string(Client.name) : undefined,
      client: call.session.client.describe?.(call.request).name,
    };
    const given = sent.text(Client.arguments);
    const before = given === undefined || given === 'null' ? '{}' : given;
    const args = isCall ? await this.#before(event, before, call) : before;
    if (!call.open) return;
    if (this.#threads.some(({ module }) => module.hooks.includes('afterCall')))
      call.reviewBy((answer) => this.#after(answer, event, args, call));
    pass(args === before ? edits : withArguments(call, edits, args), call);
  }

  /** The arguments as the hooks want them, as JSON text. */
  async #before(event: HookEvent, given: string, call: Call): Promise<string> {
    let args = given;
    for (const { file, thread } of this.#having('beforeCall')) {
      const answer = await thread.run('beforeCall', eventText(event, { arguments: args }));
      if (answer === undefined) continue;
      if ('refuse' in answer)
        throw refused(`${call.subject()} was not run: ${file} refused it`, answer.refuse);
      args = answer.json;
    }
    // A module could reach what checks it in its thread.
    if (args !== given && readObject(args) === undefined) throw new Error('they returned no JSON');
    return args;
  }

  /** Never rejects. */
  async #after(
    answer: Message,
    event: HookEvent,
    args: string,
    call: Call,
  ): Promise<Message | SwitchboardError> {
    // What a server refused has no result.
    if (answer.has(Server.error) || !answer.has(Server.result)) return answer;
    try {
      const before = answer.requiredText(Server.result);
      let result = before;
      for (const { file, thread } of this.#having('afterCall')) {
        const wanted = await thread.run('afterCall', eventText(event, { arguments: args, result }));
        if (wanted === undefined) continue;
        if ('refuse' in wanted)
          throw refused(`${call.subject()} was run, and ${file} withheld its result`, wanted.refuse);
        result = wanted.json;
      }
      if (result === before) return answer;
      return Message.fromText(`{"jsonrpc":"2.0","id":0,"result":${result}}`, SERVER_SHAPE);
    } catch (error) {
      return asFailure(error, call);
    }
  }

  /** The modules that have a hook, in the order they run. */
  #having(name: HookName): readonly { readonly file: string; readonly thread: HookThread }[] {
    return this.#threads
      .filter(({ module }) => module.hooks.includes(name))
      .map(({ module, thread }) => ({ file: module.file, thread }));
  }
}

/** An event with values that are JSON text already. */
function eventText(event: HookEvent, values: Readonly<Record<string, string>>): string {
  const more = Object.entries(values).map(([member, text]) => `,"${member}":${text}`);
  return `${JSON.stringify(event).slice(0, -1)}${more.join('')}}`;
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
