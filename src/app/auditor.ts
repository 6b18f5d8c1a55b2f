import type { AuditLog, AuditRecord } from '../audit/index.ts';
import { MANAGEMENT_TOOLS, type Settings } from '../config/index.ts';
import type { Call } from '../gateway/index.ts';
import type { Logger } from '../shared/log.ts';
import { sha256InTurns } from '../shared/sha256.ts';
import type { Sequence } from '../store/index.ts';

export interface AuditorOptions {
  readonly settings: () => Settings['audit'];
  readonly stateDirectory: string;
  /** The arguments that the configuration hides for a server's tools; for all servers if none is given. */
  readonly hiddenArguments: (server: string | undefined) => readonly string[];
  readonly log: Logger;
  /** Numbers the lines of gateways that share a store. Default: lines have no numbers. */
  readonly sequence?: Pick<Sequence, 'next'> | undefined;
}

/** Records calls if the configuration asks for it. The code that writes them is loaded with the first call. */
export class Auditor {
  readonly #options: AuditorOptions;
  /** The calls recorded so far, because a call is reported in several places. */
  readonly #known = new WeakSet<Call>();
  /** Lines that wait for their number or hash, or for the file to be opened. */
  readonly #writing = new Set<Promise<void>>();
  #log: { readonly settings: Settings['audit']; readonly opened: Promise<OpenLog> } | undefined;

  constructor(options: AuditorOptions) {
    this.#options = options;
  }

  /** Whether the configuration wants calls to be recorded. */
  get records(): boolean {
    return this.#options.settings() !== false;
  }

  /** Records a call of a tool, under the name used there; `server` is given if it is already known. */
  called(call: Call, tool: string | (() => string), server?: string): void {
    const settings = this.#options.settings();
    if (settings === false || this.#known.has(call)) return;
    this.#known.add(call);
    const name = typeof tool === 'string' ? tool : tool();
    const opened = this.#open(settings);
    const time = new Date().toISOString();
    const since = performance.now();
    const { onEnd } = call;
    call.onEnd = (outcome, bytes, answer) => {
      onEnd?.(outcome, bytes, answer);
      const { name: client, principal, via } = call.session.client.describe?.(call.request) ?? {};
      const owner = server ?? call.source?.name;
      const written = call.argumentsPieces();
      const record = {
        time,
        client: short(client),
        principal: principal && shownPrincipal(principal),
        via,
        server: short(owner),
        tool: short(call.subtool ?? name),
        outcome,
        ms: Math.round((performance.now() - since) * 10) / 10,
        bytes,
      } satisfies AuditRecord;
      // The arguments of management tools may contain the environment of a program.
      const isManagement = owner === undefined && MANAGEMENT_TOOLS.some((each) => each === name);
      const shows = settings.arguments && written.length > 0 && !isManagement;
      const hidden = shows ? [...settings.redact, ...this.#options.hiddenArguments(owner)] : [];
      const ready = Promise.all([opened, sha256InTurns(written), this.#options.sequence?.next()]);
      const writing = ready.then(([{ log, redact }, sha256, seq]) => {
        const args = shows ? redact(written, new Set(hidden)) : undefined;
        log.write({ ...record, sha256, seq, arguments: args });
      });
      this.#writing.add(writing);
      void writing.finally(() => this.#writing.delete(writing));
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#writing);
    await (await this.#log?.opened)?.log.close();
  }

  /** Opens the log again if a reload has changed its settings. */
  #open(settings: Exclude<Settings['audit'], false>): Promise<OpenLog> {
    if (this.#log?.settings !== settings) this.#log = { settings, opened: openLog(settings, this.#options) };
    return this.#log.opened;
  }
}

interface OpenLog {
  readonly log: AuditLog;
  /** Parses the JSON bytes of arguments and removes what must not be recorded. */
  readonly redact: (written: readonly Buffer[], hidden: ReadonlySet<string>) => unknown;
}

async function openLog(
  { maxBytes, files }: Exclude<Settings['audit'], false>,
  { stateDirectory, log }: AuditorOptions,
): Promise<OpenLog> {
  const { auditFile, AuditLog: Log, redactArguments } = await import('../audit/index.ts');
  return {
    log: new Log({ file: auditFile(stateDirectory), maxBytes, files, log }),
    redact: redactArguments,
  };
}

/** Shows an access token as the beginning of its hash, and a user as issuer and name, without the claims for roles. */
function shownPrincipal(principal: string): string {
  const [issuer = '', user] = principal.split(' ');
  return user === undefined
    ? principal.slice(0, PRINCIPAL_CHARS)
    : `${issuer} ${user}`.slice(0, LONGEST_NAME);
}

/** Enough to distinguish tokens, and useless for recovering one. */
const PRINCIPAL_CHARS = 12;
/** The limit for names, because a client may call itself anything. */
const LONGEST_NAME = 200;

function short(name: string | undefined): string | undefined {
  return name?.slice(0, LONGEST_NAME);
}
