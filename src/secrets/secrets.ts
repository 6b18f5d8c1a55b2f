/** The values of secrets, as they were read at one time. Held so that nothing that prints an object prints them. */
export class Secrets {
  readonly #found: ReadonlyMap<string, SecretState>;

  constructor(found: ReadonlyMap<string, SecretState>) {
    this.#found = found;
  }

  get(name: string): SecretState {
    return this.#found.get(name) ?? { kind: 'unset' };
  }
}

/** What is known of a secret: its value, that nobody has set it, or why it cannot be read, as the end of a sentence. */
type SecretState =
  | { readonly kind: 'set'; readonly value: string }
  | { readonly kind: 'unset' }
  | { readonly kind: 'unreadable'; readonly why: string };

/** A secret that is referred to and has no value. */
export interface UnsetSecret {
  readonly name: string;
  /** Why it cannot be read. Default: nobody has set it. */
  readonly why?: string;
}

export const NO_SECRETS = new Secrets(new Map());
