import { redactUrl } from '../../../config/index.ts';
import { locateJsonc, type JsoncNode } from '../../../shared/jsonc.ts';

/**
 * The text of a configuration as it may be shown: `***` for every value of an environment, a header or a preset, for
 * secrets in addresses and those of logins, of models and of our own door. References to the environment, `${NAME}`, stay. The lines
 * stay the same.
 */
export function redactConfig(text: string): string {
  const mark = text.startsWith('\ufeff') ? 1 : 0;
  const members = locateJsonc(text).members ?? [];
  const secrets = members.flatMap(({ key, node }) => {
    if (key === 'mcpServers' || key === 'suites')
      return (node.members ?? []).flatMap(({ node: server }) => secretsIn(server));
    if (key === 'store') return isAddress(node.value) ? [node] : [];
    return key === 'http' ? secretsIn(node) : [];
  });
  let shown = '';
  let at = 0;
  for (const { start, end, value } of secrets) {
    // A value over several lines keeps its number of lines.
    const breaks = text.slice(start + mark, end + mark).replace(/[^\r\n]/g, '');
    const instead = isAddress(value) ? redactUrl(value) : '***';
    shown += `${text.slice(at, start + mark)}${JSON.stringify(instead)}${breaks}`;
    at = end + mark;
  }
  return shown + text.slice(at);
}

/** Keys whose members are secrets, and keys that are one themselves. */
const SECRET_MEMBERS = new Set(['env', 'headers', 'presets']);
const SECRET_KEYS = new Set(['clientSecret', 'privateKey', 'assertion', 'token', 'apiKey']);
const ADDRESSES = new Set(['url', 'baseUrl']);
/** Alone, or behind the word that says which kind of key it is. */
const REFERENCE = /^(?:[A-Za-z]+ )?\$\{(?:(?:env:)?\w+|secret:[\w.-]+)\}$/;

/** In the order of the text. */
function secretsIn(node: JsoncNode): JsoncNode[] {
  return (node.members ?? []).flatMap(({ key, node: value }) => {
    if (SECRET_MEMBERS.has(key)) return (value.members ?? []).map((member) => member.node).filter(isSecret);
    if (SECRET_KEYS.has(key)) return isSecret(value) ? [value] : [];
    if (ADDRESSES.has(key)) return isAddress(value.value) ? [value] : [];
    return secretsIn(value);
  });
}

function isSecret({ value }: JsoncNode): boolean {
  return typeof value !== 'string' || !REFERENCE.test(value);
}

/** Whether part of it must not be seen. */
function isAddress(value: unknown): value is string {
  return typeof value === 'string' && redactUrl(value) !== value;
}
