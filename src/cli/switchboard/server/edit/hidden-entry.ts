import { isDeepStrictEqual } from 'node:util';
import { redactCommand, redactUrl } from '../../../../config/index.ts';
import type { EntryJson, HiddenSecret } from '../../../../console/index.ts';
import { literalSecrets } from '../../../../hosts/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { isObject } from '../../../../shared/is-object.ts';

/** Replaces a secret in an entry that is shown. */
const HIDDEN: HiddenSecret = '••••••••';

/** Keys whose members are secrets, and keys whose value is a secret. */
const SECRET_MEMBERS = new Set(['env', 'headers', 'presets', 'environment', 'http_headers']);
const SECRET_KEYS = new Set(['clientSecret', 'privateKey', 'assertion', 'token', 'apiKey']);
/** A value that only refers to the environment, optionally after a scheme. */
const REFERENCE = /^(?:[A-Za-z]+ )?\$\{(?:env:)?\w+\}$/;

/**
 * An entry of a configuration file in a form that may be shown: every secret is replaced. References to the environment
 * stay.
 */
export function hideSecrets(entry: EntryJson): EntryJson {
  const hidden = hiddenIn(entry) as Record<string, unknown>;
  const { command, args } = entry;
  if (typeof command !== 'string' || !Array.isArray(args)) return hidden;
  const items: readonly unknown[] = args;
  const words = items.map(String);
  const shown = redactCommand({ written: { command, args: words, cwd: '' } }).args;
  return { ...hidden, args: items.map((item, at) => (shown[at] === words[at] ? item : HIDDEN)) };
}

function hiddenIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => hiddenIn(each));
  if (!isObject(value)) return typeof value === 'string' ? redactUrl(value) : value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      if (SECRET_MEMBERS.has(key) && isObject(member))
        return [key, Object.fromEntries(Object.entries(member).map(([name, each]) => [name, hide(each)]))];
      return [key, SECRET_KEYS.has(key) ? hide(member) : hiddenIn(member)];
    }),
  );
}

function hide(value: unknown): unknown {
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hide(each)]));
  return typeof value === 'string' && REFERENCE.test(value) ? value : HIDDEN;
}

/** A changed entry with the hidden secrets filled in from the old one. Throws if they are ambiguous. */
export function restoreSecrets(changed: EntryJson, old: EntryJson): EntryJson {
  const restored = restoredIn(changed, hideSecrets(old), old);
  if (!JSON.stringify(restored).includes(HIDDEN)) return restored as EntryJson;
  throw new SwitchboardError(
    'ARGS_INVALID',
    'A hidden secret was moved or copied, so it is not known which is meant.',
    {
      hint: 'Write the secret itself there, or a reference such as "${NAME}".',
    },
  );
}

function restoredIn(changed: unknown, hidden: unknown, old: unknown): unknown {
  if (isDeepStrictEqual(changed, hidden)) return old;
  if (Array.isArray(changed) && Array.isArray(hidden) && Array.isArray(old)) {
    // Words before and after the changed ones keep their positions.
    const moved = changed.length - hidden.length;
    return changed.map((each: unknown, at) => {
      const from = [at, at - moved].find((place) => isDeepStrictEqual(hidden[place], each));
      return from === undefined ? each : (old[from] as unknown);
    });
  }
  if (!isObject(changed) || !isObject(hidden) || !isObject(old)) return changed;
  return Object.fromEntries(
    Object.entries(changed).map(([key, value]) => [
      key,
      Object.hasOwn(hidden, key) ? restoredIn(value, hidden[key], old[key]) : value,
    ]),
  );
}

/** Whether an entry contains a secret, so that only its owner may read the file. */
export function hasSecrets(entry: EntryJson, name: string): boolean {
  return literalSecrets(entry, name).length > 0;
}
