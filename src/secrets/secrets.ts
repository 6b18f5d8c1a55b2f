/** The values of secrets, read at one time. They are private, so that printing the object does not print them. */
export class Secrets {
  readonly #found: ReadonlyMap<string, SecretState>;

  constructor(found: ReadonlyMap<string, SecretState>) {
    this.#found = found;
  }

  get(name: string): SecretState {
    return this.#found.get(name) ?? { kind: 'unset' };
  }
}

/** The state of a secret: its value, that it is not set, or why it cannot be read, as the end of a sentence. */
type SecretState =
  | { readonly kind: 'set'; readonly value: string }
  | { readonly kind: 'unset' }
  | { readonly kind: 'unreadable'; readonly why: string };

/** A secret that is referred to but has no value. */
export interface UnsetSecret {
  readonly name: string;
  /** Why it cannot be read. Default: it is not set. */
  readonly why?: string;
}

export const NO_SECRETS = new Secrets(new Map());
