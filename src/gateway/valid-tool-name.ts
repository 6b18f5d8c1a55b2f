/** Matches the tool names that every client accepts. */
const VALID = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Returns a valid tool name for any name: the name itself if it is valid, otherwise the name with invalid characters
 * replaced and a hash of the original appended. Different originals never collide, and the same original always gives
 * the same name.
 */
export function validToolName(wanted: string): string {
  if (VALID.test(wanted)) return wanted;
  const suffix = `_${hash(wanted)}`;
  const readable = wanted.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^_+/, '');
  return readable.slice(0, 64 - suffix.length) + suffix;
}

/** A valid tool name prefixed with its server: `server__tool`. */
export function prefixedToolName(server: string, tool: string): string {
  return validToolName(`${namespaceOf(server)}__${tool}`);
}

/**
 * The prefix of a server's tools: its name if valid, otherwise the readable part of the name and a hash. All tools of a
 * server share it, no other server has it, and it is the same in every run.
 */
export function namespaceOf(server: string): string {
  if (/^[A-Za-z0-9_-]*$/.test(server)) return server;
  const readable = server
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replaceAll('ß', 'ss')
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .replace(/^_+/, '')
    .slice(0, 24)
    .replace(/_+$/, '');
  return `${readable === '' ? 'server' : readable}_${hash(server)}`;
}

/** FNV-1a over UTF-16 units, twice with different seeds, as 8 base-36 characters: stable everywhere, no crypto needed. */
function hash(text: string): string {
  const one = fnv(text, 0x811c9dc5);
  const two = fnv(text, 0x01000193);
  return (one.toString(36) + two.toString(36)).padStart(8, '0').slice(-8);
}

function fnv(text: string, seed: number): number {
  let value = seed;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
