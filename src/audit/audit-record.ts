/** One line of the audit log: a call, or the number of calls missing before the next line. */
export interface AuditRecord {
  /** When the call came, as an ISO date. */
  readonly time: string;
  /** With a store: a number that is unique among the lines of all replicas. Missing while the store is away. */
  readonly seq?: number | undefined;
  /** What the client calls itself. */
  readonly client?: string | undefined;
  /** Over HTTP: the beginning of the SHA-256 of the client's token, or the issuer and the percent-encoded user. */
  readonly principal?: string | undefined;
  /** What called the tool on behalf of the client: the language model in front of the server. Default: the client did. */
  readonly via?: string | undefined;
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  /** `ok`, `tool error`, `error` (of the server), `cancelled`, or an error code of ours. */
  readonly outcome?: string;
  readonly ms?: number;
  /** Size of the response. */
  readonly bytes?: number;
  /** Hash of the arguments, as JSON as the client wrote it. */
  readonly sha256?: string;
  /** The arguments, if the settings ask for them; a text if they are long. */
  readonly arguments?: unknown;
  /** How many calls could not be recorded. */
  readonly dropped?: number;
}
