import type { ConfiguredServer } from '../../config/index.ts';
import type { KeptText } from '../../console/index.ts';
import { maskFor } from './definition-secrets.ts';

/** What must not be visible in a text: the secrets of these servers, and the fields that their settings hide. */
export interface Hidden {
  readonly servers: readonly ConfiguredServer[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * JSON text as a console may show it: cut and without secrets. `text` may be the beginning of a text of this `length`.
 * Null if it is too long to search for secrets.
 */
export function hiddenText(
  text: string,
  length: number,
  longest: number,
  { servers, env }: Hidden,
): KeptText | null {
  const fields = new Set(
    servers.flatMap(({ tools }) => [...tools.shapes.values()].flatMap((shape) => shape.redact ?? [])),
  );
  const whole = parsed(text);
  if (whole === undefined && fields.size > 0) return null;
  const redacted = whole === undefined ? text : JSON.stringify(withoutSecrets(whole.value, fields));
  const masked = servers.reduce((rest, server) => maskFor(server, env)(rest), redacted);
  const safe = servers.length === 0 ? maskFor(undefined, env)(masked) : masked;
  if (whole !== undefined && safe.length <= longest) return { text: safe, length: safe.length };
  // A text that was cut may end with part of a secret.
  const kept = safe.slice(
    0,
    whole === undefined ? Math.min(longest, Math.max(0, safe.length - MARGIN)) : longest,
  );
  return { text: kept, length: Math.max(length, kept.length + 1) };
}

/** The longest secret that may be cut in two, in UTF-16 code units. */
const MARGIN = 4096;

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

function withoutSecrets(value: unknown, fields: ReadonlySet<string>, depth = 0): unknown {
  if (depth > MOST_DEPTH) return '…';
  if (Array.isArray(value)) return value.map((each) => withoutSecrets(each, fields, depth + 1));
  if (typeof value === 'string') return withinText(value, fields, depth);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      fields.has(key) || (typeof each === 'string' && SECRET_FIELD.test(key))
        ? '[redacted]'
        : withoutSecrets(each, fields, depth + 1),
    ]),
  );
}

/** Models write the arguments of a subtool as JSON inside a string; servers do the same with results. */
function withinText(text: string, fields: ReadonlySet<string>, depth: number): unknown {
  if (!/^\s*[{[]/.test(text)) return text;
  const inner = parsed(text);
  if (inner === undefined) return fields.size === 0 ? text : `[${text.length} characters]`;
  const before = JSON.stringify(inner.value);
  const after = JSON.stringify(withoutSecrets(inner.value, fields, depth + 1));
  return before === after ? text : after;
}

const MOST_DEPTH = 64;

const SECRET_FIELD =
  /^(?:.*[-_])?(?:token|secret|password|passwd|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credentials?|authorization)$|(?:Token|Secret|Password|ApiKey|AccessKey|PrivateKey)$/i;
