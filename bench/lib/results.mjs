/** A tool result with one text of the given length. */
export function textResult(bytes) {
  return {
    content: [
      {
        type: 'text',
        text: 'The quick brown fox jumps over the lazy dog. '.repeat(bytes / 45 + 1).slice(0, bytes),
      },
    ],
  };
}

const INFO = { name: 'bench', version: '1.0.0' };

/** The `_meta` of every request of the modern era. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': INFO,
};

/** The members of every result of the modern era. */
export const COMPLETE = {
  resultType: 'complete',
  _meta: { 'io.modelcontextprotocol/serverInfo': INFO },
};

/** The same text as a result of the modern era. */
export function modernResult(bytes) {
  return { ...COMPLETE, ...textResult(bytes) };
}

/** A tool result of about the given length with many small members: the most expensive case for a JSON reader. */
export function structuredResult(bytes) {
  const rows = [];
  let length = 0;
  for (let index = 0; length < bytes; index++) {
    const row = {
      id: index,
      name: `row ${index}`,
      ok: index % 2 === 0,
      ratio: index / 8,
      tags: ['a', 'b'],
      none: null,
    };
    rows.push(row);
    length += JSON.stringify(row).length + 1;
  }
  return { content: [{ type: 'text', text: `${rows.length} rows` }], structuredContent: { rows } };
}
