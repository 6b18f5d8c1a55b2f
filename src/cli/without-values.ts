import { locateJsonc, type JsoncNode } from '../shared/jsonc.ts';

/**
 * The text of a configuration as it may be shown: `***` for every value of an environment, a header or a preset.
 * References to the environment, `${NAME}`, stay. The lines stay the same.
 */
export function withoutValues(text: string): string {
  const mark = text.startsWith('\ufeff') ? 1 : 0;
  const servers = (locateJsonc(text).members ?? [])
    .filter(({ key }) => key === 'mcpServers' || key === 'suites')
    .flatMap(({ node }) => node.members ?? []);
  let shown = '';
  let at = 0;
  for (const { start, end } of servers.flatMap(({ node }) => secretsIn(node))) {
    // What stands over several lines does so afterwards.
    const breaks = text.slice(start + mark, end + mark).replace(/[^\r\n]/g, '');
    shown += `${text.slice(at, start + mark)}"***"${breaks}`;
    at = end + mark;
  }
  return shown + text.slice(at);
}

const SECRET = new Set(['env', 'headers', 'presets']);
const REFERENCE = /^\$\{(?:env:)?\w+\}$/;

/** In the order of the text. */
function secretsIn(node: JsoncNode): JsoncNode[] {
  return (node.members ?? []).flatMap(({ key, node: value }) =>
    SECRET.has(key) ? (value.members ?? []).map((member) => member.node).filter(isSecret) : secretsIn(value),
  );
}

function isSecret({ value }: JsoncNode): boolean {
  return typeof value !== 'string' || !REFERENCE.test(value);
}
