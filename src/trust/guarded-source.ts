import type { Call, Component, Listing, Source, SourceListener } from '../gateway/index.ts';
import { Client, CLIENT_SHAPE } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { editedText, Message, type Edit } from '../wire/index.ts';
import type { ApprovalGate, ApprovalGateOptions } from './approval-gate.ts';
import { PinScreen, type PinScreenOptions } from './pin-screen.ts';

export interface GuardedSourceOptions {
  /** The server itself. */
  readonly inner: Source;
  /** Default: no approval is needed. */
  readonly approval?: ApprovalGateOptions | undefined;
  /** Withholds tools that have changed. Default: none are withheld. */
  readonly screen?: PinScreenOptions | undefined;
}

/**
 * A server whose tools run only after checks. Every call passes through here, with the tool's own name and the
 * arguments that the server will receive, whether it comes from a suite, a flat tool, a compound tool, a language model
 * or a command.
 */
export function guardedSource({ inner, approval, screen: pinned }: GuardedSourceOptions): Source {
  const screen = pinned && new PinScreen(pinned);
  let listener: SourceListener | undefined;
  let gate: ApprovalGate | undefined;
  const load = async (options: ApprovalGateOptions): Promise<ApprovalGate> => {
    const { ApprovalGate } = await import('./approval-gate.ts');
    return (gate ??= new ApprovalGate(options));
  };

  const refusalOf = async (edits: Edit[], call: Call): Promise<SwitchboardError | undefined> => {
    const { name, args } = toolCalled(edits, call);
    if (screen !== undefined) {
      let listing = inner.known('tools') ?? (await inner.list('tools'));
      await screen.check(listing);
      if (inner.relist !== undefined && screen.isContradicted(name, listing)) {
        await relist();
        listing = inner.known('tools') ?? (await inner.list('tools'));
        await screen.check(listing);
      }
      const refusal = call.open ? screen.refusal(name, inner.known('tools') ?? listing) : undefined;
      if (refusal !== undefined) return refusal;
    }
    if (approval === undefined) return undefined;
    const asking = gate ?? (await load(approval));
    if (!asking.concerns(name)) return undefined;
    // Nothing is known about a tool that is not listed, so assume the worst.
    if (inner.known('tools') === undefined) await inner.list('tools').catch(() => undefined);
    if (!call.open) return undefined;
    const listed = (): Component | undefined => inner.known('tools')?.byKey.get(name);
    return asking.refusal({ call, name, args, listed });
  };

  const admit = async (edits: Edit[], call: Call): Promise<void> => {
    try {
      const refusal = await refusalOf(edits, call);
      if (!call.open) return;
      if (refusal !== undefined) call.fail(refusal);
      else inner.request(edits, call);
    } catch (cause) {
      if (cause instanceof SwitchboardError) call.fail(cause);
      else call.fail(new SwitchboardError('INTERNAL', `${call.subject()} could not be checked.`, { cause }));
    }
  };

  let relisting: Promise<void> | undefined;
  let relistedAt = -Infinity;
  /** Otherwise two gateways to which the server lists different tools would contradict each other on every call. */
  const relist = async (): Promise<void> => {
    if (relisting === undefined && performance.now() - relistedAt < RELIST_EVERY) return;
    relisting ??= inner.relist?.().finally(() => {
      relisting = undefined;
      relistedAt = performance.now();
    });
    await relisting;
  };

  let last: Listing | undefined;
  /** The part of a list that clients may see. Clients are notified when it changes. */
  const shown = (listing: Listing | undefined): Listing | undefined => {
    if (listing === undefined || screen === undefined) return listing;
    const screened = screen.checked(listing);
    if (screened === undefined || screened === last) return screened;
    if (last !== undefined) setImmediate(() => listener?.changed('tools'));
    last = screened;
    return screened;
  };

  return {
    name: inner.name,
    get state() {
      return inner.state;
    },
    get problem() {
      return inner.problem;
    },
    get listsToolsUnstarted() {
      return inner.listsToolsUnstarted ?? false;
    },
    about: () => inner.about(),
    list: async (kind) => {
      const listing = await inner.list(kind);
      return kind === 'tools' && screen !== undefined ? screen.check(listing) : listing;
    },
    known: (kind) => {
      const listing = inner.known(kind);
      return kind === 'tools' ? shown(listing) : listing;
    },
    remembered: (kind) => {
      const listing = inner.remembered(kind);
      return kind === 'tools' && listing !== undefined && screen !== undefined
        ? screen.recalled(listing)
        : listing;
    },
    request: (edits, call) => {
      if (call.method === 'tools/call') void admit(edits, call);
      else inner.request(edits, call);
    },
    start: () => inner.start(),
    ask: (method, params) => inner.ask(method, params),
    notify: (notification) => inner.notify(notification),
    listen: (given) => {
      listener = given;
      inner.listen(given);
    },
    setIdleTimeout: (idleMs) => inner.setIdleTimeout(idleMs),
    fail: (error) => inner.fail(error),
    close: (options) => inner.close(options),
  };
}

/** How often a server is asked for its tools again because another gateway got a different list, in milliseconds. */
const RELIST_EVERY = 1000;

/** The server's own name for the tool, and its arguments as JSON text, exactly as they will be sent. */
function toolCalled(edits: Edit[], { request }: Call): { readonly name: string; readonly args: string } {
  const sent = edits.length === 0 ? request : Message.fromText(editedText(request, edits), CLIENT_SHAPE);
  return { name: sent.string(Client.name) ?? '', args: sent.text(Client.arguments) ?? '{}' };
}
