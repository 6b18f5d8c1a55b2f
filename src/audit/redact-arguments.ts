import { parseJson } from '../shared/parse-json.ts';
import { isSecretName } from '../shared/secrets.ts';

/** Longer ones are cut. In UTF-16 code units of their JSON. */
const MAX_CHARS = 8192;
const HIDDEN = '[redacted]';

/** Larger arguments are not recorded at all, in bytes: hiding the secrets in megabytes would block everything else. */
const MAX_WRITTEN = 64 * 1024;

/**
 * Arguments as they may be recorded, from the bytes of their JSON. Hides members, at any depth, whose names suggest a
 * secret or are in `hidden`.
 */
export function redactArguments(written: readonly Buffer[], hidden: ReadonlySet<string>): unknown {
  const bytes = written.reduce((sum, { length }) => sum + length, 0);
  const args = bytes > MAX_WRITTEN ? undefined : parseJson(Buffer.concat(written).toString());
  if (args === undefined) return `[${bytes} bytes]`;
  const shown: unknown = JSON.parse(
    JSON.stringify(args, (key, value: unknown) =>
      key !== '' && (hidden.has(key) || isSecretName(key.replaceAll('-', '_'))) ? HIDDEN : value,
    ),
  );
  const text = JSON.stringify(shown);
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : shown;
}
