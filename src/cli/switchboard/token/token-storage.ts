import { SwitchboardError } from '../../../shared/errors.ts';
import type { Store } from '../../../store/index.ts';
import { openConfiguredStore } from '../configured-store.ts';
import type { Context } from '../command.ts';
import { changeTokens, printTokens, readTokens, tokenFile, tokensIn, type NamedToken } from './token-file.ts';

/** Where the named tokens are stored: in a file or, for gateways that share a store, in that store. */
export interface TokenStorage {
  /** Undefined for a store. */
  readonly file?: string;
  read(): Promise<readonly NamedToken[]>;
  change(change: (tokens: readonly NamedToken[]) => readonly NamedToken[]): Promise<void>;
}

export async function withTokenStorage<T>(
  { env, log, stop, loadConfig }: Pick<Context, 'env' | 'log' | 'stop' | 'loadConfig'>,
  use: (storage: TokenStorage) => Promise<T>,
): Promise<T> {
  const store = await openConfiguredStore(await loadConfig('quietly'), env, log);
  if (store === undefined) {
    const file = tokenFile(env);
    return use({
      file,
      read: () => Promise.resolve(readTokens(file)),
      change: (change) => changeTokens(file, change, stop),
    });
  }
  try {
    return await use({
      read: async () => (await readSharedTokens(store)) ?? [],
      change: (change) => changeSharedTokens(store, change),
    });
  } finally {
    store.close();
  }
}

/** The named tokens in a store; undefined if none were ever stored. */
export async function readSharedTokens(store: Store): Promise<readonly NamedToken[] | undefined> {
  const text = await store.get(KEY);
  if (text !== undefined) await store.keep(KEY, KEPT_MS);
  return text === undefined ? undefined : parse(text);
}

/** Writes the tokens back into a store that has lost them. */
export async function restoreSharedTokens(store: Store, tokens: readonly NamedToken[]): Promise<void> {
  await store.replace(KEY, undefined, printTokens(tokens), KEPT_MS);
}

const KEY = 'tokens';
/** Longer than gateways are ever down: each gateway that reads the tokens renews this time. In milliseconds. */
const KEPT_MS = 365 * 24 * 60 * 60 * 1000;
/** How many times in a row another command may be faster. */
const MOST_TRIES = 20;

async function changeSharedTokens(
  store: Store,
  change: (tokens: readonly NamedToken[]) => readonly NamedToken[],
): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const before = await store.get(KEY);
    if (
      await store.replace(
        KEY,
        before,
        printTokens(change(before === undefined ? [] : parse(before))),
        KEPT_MS,
      )
    )
      return;
  }
  throw new SwitchboardError('STORE_AWAY', 'The tokens cannot be changed: others change them all the time.', {
    hint: 'Try again.',
  });
}

function parse(text: string): readonly NamedToken[] {
  const tokens = tokensIn(text);
  if (tokens !== undefined) return tokens;
  throw new SwitchboardError('TOKEN_UNUSABLE', 'The named tokens in the store are damaged.', {
    hint: 'Delete the key that ends with ":tokens" and create the tokens again with `switchboard token create NAME`.',
  });
}
