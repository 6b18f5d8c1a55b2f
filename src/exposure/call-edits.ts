import { SwitchboardError } from '../shared/errors.ts';
import { withPresets } from '../gateway/index.ts';
import { Client } from '../protocol/index.ts';
import { insertedText, readObject, type Edit, type Message } from '../wire/index.ts';

export interface CallChanges {
  /** The tool's own name as JSON text; undefined if the client already uses that name. */
  readonly name: Edit['with'] | undefined;
  /** The slot of the client's arguments that contains the tool's arguments; undefined if they are the same. */
  readonly args: number | undefined;
  /** Preset arguments, as JSON texts. */
  readonly presets: ReadonlyMap<string, string> | undefined;
}

/** The edits that turn a client's call into a call of the server's tool: only the name and the arguments change. */
export function callEdits(request: Message, { name, args, presets }: CallChanges): Edit[] | SwitchboardError {
  const edits: Edit[] = [];
  if (name !== undefined)
    edits.push({ start: request.start(Client.name), end: request.end(Client.name), with: name });
  if (args === undefined && presets === undefined) return edits;
  let given = argumentsIn(request, args ?? Client.arguments);
  if (given instanceof SwitchboardError) return given;
  if (presets !== undefined) given = withPresets(insertedText(given), presets);
  if (!request.has(Client.arguments)) {
    // Inserted after the name, which every call has.
    const end = request.end(Client.name);
    edits.push({ start: end, end, with: `,"arguments":${given as string}` });
    return edits;
  }
  const body: Edit = {
    start: request.start(Client.arguments),
    end: request.end(Client.arguments),
    with: given,
  };
  if (edits[0] !== undefined && body.start < edits[0].start) edits.unshift(body);
  else edits.push(body);
  return edits;
}

function argumentsIn(request: Message, slot: number): Edit['with'] | SwitchboardError {
  const lead = request.lead(slot);
  if (lead === BRACE) return { of: request.bytes, start: request.start(slot), end: request.end(slot) };
  if (lead === -1 || request.text(slot) === 'null') return '{}';
  // Models often write the arguments as JSON inside a string, which can mean only one thing. Longer strings would delay
  // other calls, and no model writes them.
  const isShort = request.end(slot) - request.start(slot) <= MAX_ARGUMENTS_TEXT;
  const inner = isShort ? request.string(slot) : undefined;
  const object = inner === undefined ? undefined : readObject(inner);
  if (object) return { of: object, start: object.from, end: object.to };
  return new SwitchboardError('ARGS_INVALID', 'The args of a tool must be an object.', {
    hint: `For example "args":{"key":"value"}.`,
  });
}

const BRACE = 0x7b;
/** The limit for arguments inside a string, in bytes. */
const MAX_ARGUMENTS_TEXT = 1024 * 1024;
