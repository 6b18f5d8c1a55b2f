import { isSecretName } from '../shared/secrets.ts';

/** Longer ones are cut, in UTF-16 units of their JSON. */
const MAX_CHARS = 8192;
const HIDDEN = '[redacted]';

/** Arguments as they may be recorded: without what is secret by its name, or named to be hidden, at any depth. */
export function redactArguments(args: unknown, hidden: ReadonlySet<string>): unknown {
  const shown: unknown = JSON.parse(
    JSON.stringify(args ?? null, (key, value: unknown) =>
      key !== '' && (hidden.has(key) || isSecretName(key.replaceAll('-', '_'))) ? HIDDEN : value,
    ),
  );
  const text = JSON.stringify(shown);
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : shown;
}
