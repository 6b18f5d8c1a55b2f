import { randomBytes } from 'node:crypto';
import { encode } from 'gpt-tokenizer';
import { describe, expect, test } from 'vitest';
import { SERVER_SHAPE, type JsonObject } from '../protocol/index.ts';
import { editedText, fromChunks, Message, readMessage } from '../wire/index.ts';
import { fitResult, type FitOptions } from './fit-result.ts';
import { KeptResult, type KeptResultFacts } from './kept-result.ts';

interface Fitted {
  readonly content: { type: string; text?: string; uri?: string; resource?: { text: string } }[];
  readonly structuredContent?: JsonObject;
  readonly isError?: boolean;
}

const MAX_TOKENS = 500;

/** Fits a result, given as a value or as JSON text, and collects what is kept. */
async function fit(given: unknown, options: Partial<FitOptions> & { chunks?: number } = {}) {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const whole = Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${text}}`);
  const size = Math.ceil(whole.length / (options.chunks ?? 1));
  const chunks = Array.from({ length: options.chunks ?? 1 }, (_, at) =>
    whole.subarray(at * size, (at + 1) * size),
  );
  const message = readMessage(fromChunks(chunks), SERVER_SHAPE, 'newline');
  if (!(message instanceof Message)) throw new Error('not a message');
  const kept: { text: string; facts: Omit<KeptResultFacts, 'length'> }[] = [];
  const edits = await fitResult(message, {
    maxTokens: MAX_TOKENS,
    minify: false,
    reader: 'action',
    takesLinks: true,
    keepMs: 3_600_000,
    keep: (wholeText, facts) => {
      kept.push({ text: wholeText, facts });
      const place = { kind: 'memory', bytes: Buffer.from(wholeText, 'utf16le') } as const;
      return Promise.resolve(
        new KeptResult('0123456789', { ...facts, length: wholeText.length }, 'utf16le', place),
      );
    },
    ...options,
  });
  const result = (JSON.parse(editedText(message, edits)) as { result: Fitted }).result;
  return { result, kept, edits };
}

function textResult(...texts: string[]): JsonObject {
  return { content: texts.map((text) => ({ type: 'text', text })) };
}

function tokensOf({ content }: Fitted): number {
  const texts = content.map(({ text, resource, ...rest }) => text ?? resource?.text ?? JSON.stringify(rest));
  return texts.reduce((sum, text) => sum + encode(text).length, 0);
}

const LINES = Array.from({ length: 2000 }, (_, at) => `line ${at + 1} of this text`).join('\n');

describe('a text that is too long', () => {
  test('comes as its beginning and its end, with what is missing and a link', async () => {
    const { result, kept } = await fit(textResult(LINES));
    const [text, link] = result.content;
    expect(text?.text).toMatch(/^line 1 of this text\nline 2 /);
    expect(text?.text).toMatch(/\nline 1999 of this text\nline 2000 of this text$/);
    expect(text?.text).toMatch(
      /\n\[1,9\d\d of 2,000 lines, [\d,]+ of 44,892 characters, about 1\d,000 tokens left out\. /,
    );
    const next = /"lines":"(\d+)-\d+"/.exec(text?.text ?? '')?.[1];
    expect(text?.text).toContain(`line ${Number(next) - 1} of this text\n[`);
    // The lines that are counted, named and missing are the same.
    const last = Number(/\]\nline (\d+) of this text\n/.exec(text?.text ?? '')?.[1]) - 1;
    const missing = (last - Number(next) + 1).toLocaleString('en-US');
    expect(text?.text).toContain(`\n[${missing} of 2,000 lines, `);
    expect(link).toEqual({
      type: 'resource_link',
      uri: 'switchboard-result://0123456789',
      name: '0123456789',
      description: 'The whole result: 44,892 characters',
      mimeType: 'text/plain',
    });
    expect(kept).toEqual([
      { text: LINES, facts: { lines: 2000, items: [0], maxTokens: MAX_TOKENS, minify: false } },
    ]);
  });

  test('is read as a resource where there is no suite', async () => {
    const { result } = await fit(textResult(LINES), { reader: 'resource' });
    expect(result.content[0]?.text).toMatch(
      /resources\/read switchboard-result:\/\/0123456789\?lines=\d+-\d+\./,
    );
  });

  test('has no link for a client that does not know links', async () => {
    const { result } = await fit(textResult(LINES), { takesLinks: false });
    expect(result.content.map(({ type }) => type)).toEqual(['text']);
  });

  test('passes whole where it cannot be kept', async () => {
    const { edits } = await fit(textResult(LINES), { keep: () => Promise.resolve(undefined) });
    expect(edits).toEqual([]);
  });

  test('may be in an embedded resource', async () => {
    const { result } = await fit({
      content: [{ type: 'resource', resource: { uri: 'file:///a', text: LINES, mimeType: 'text/x' } }],
    });
    expect(result.content[0]?.resource).toMatchObject({ uri: 'file:///a', mimeType: 'text/x' });
    expect(result.content[0]?.resource?.text).toContain('left out');
  });

  test('that arrived in chunks is cut in the same places', async () => {
    const inOne = await fit(textResult(LINES));
    const inMany = await fit(textResult(LINES), { chunks: 7 });
    expect(inMany.result).toEqual(inOne.result);
  });
});

test('what fits has no edits', async () => {
  expect((await fit(textResult('short'))).edits).toEqual([]);
  expect((await fit(textResult(LINES.slice(0, 1000)))).edits).toEqual([]);
  expect((await fit('{"content":[]}')).edits).toEqual([]);
  expect((await fit('{"content":[1,null,"x",{"type":"text","text":7},[[]]]}')).edits).toEqual([]);
  expect((await fit({ toolResult: LINES })).edits).toEqual([]);
});

describe('no result has more tokens than it may, and none loses a character', () => {
  const words = ['alpha', 'beta', 'gamma', 'delta'];
  test.each<[string, string]>([
    ['one huge line', 'some words in a row, '.repeat(50_000)],
    ['one huge word', 'a'.repeat(500_000)],
    ['random base64', randomBytes(100_000).toString('base64')],
    ['minified JSON', JSON.stringify(Array.from({ length: 5000 }, (_, id) => ({ id, name: words[id % 4] })))],
    ['numbers', Array.from({ length: 9000 }, (_, at) => String((at * 7919) % 1_000_003)).join(',')],
    ['emoji', '😀👩‍👩‍👧‍👦é🇩🇪'.repeat(5000)],
    ['Chinese', '网关位于客户端与多个服务器之间。'.repeat(3000)],
    ['Amharic', 'ሰላም ለሁሉም ሰው በዚህ ቀን '.repeat(2000)],
    ['lone surrogates', '\ud800x\udfff'.repeat(5000)],
    ['blanks', ' '.repeat(200_000)],
    ['line breaks', '\n'.repeat(50_000)],
    ['backslashes and quotes', '\\"\\\\"'.repeat(100_000)],
    ['control characters', '\u0000\u0007\u001b[31m'.repeat(20_000)],
  ])('%s', async (_, text) => {
    const { result, kept } = await fit(textResult(text));
    expect(kept[0]?.text).toBe(text);
    expect(tokensOf(result)).toBeLessThanOrEqual(MAX_TOKENS);
    const [before, after] = (result.content[0]?.text ?? '').split(/\n?\[[^\]]*left out\.[^\]]*\]\n/);
    expect(text.startsWith(before ?? 'nothing')).toBe(true);
    expect(text.endsWith(after ?? 'nothing')).toBe(true);
    // No surrogate pair is split.
    if (!/\p{Surrogate}/u.test(text)) expect(result.content[0]?.text).not.toMatch(/\p{Surrogate}/u);
  });

  test('escapes that are cut in pieces while they are read', async () => {
    // Each boundary of a piece falls inside an escape or a character once.
    for (const unit of ['\\u00e9', '\\ud83d\\ude00', '\\\\', '\\n', '\\\\\\"', 'é', '😀']) {
      for (let shift = 0; shift < 6; shift++) {
        const json = `"${'x'.repeat(shift)}${unit.repeat(300_000 / unit.length)}"`;
        const { kept } = await fit(`{"content":[{"type":"text","text":${json}}]}`);
        expect(kept[0]?.text).toBe(JSON.parse(json));
      }
    }
  });
});

describe('a result of many texts', () => {
  const many = Array.from({ length: 10_000 }, (_, at) => `item ${at}`);

  test('keeps the first and the last, and says how many are missing', async () => {
    const { result, kept } = await fit(textResult(...many));
    expect(tokensOf(result)).toBeLessThanOrEqual(MAX_TOKENS);
    expect(result.content[0]?.text).toBe('item 0');
    expect(result.content.at(-2)?.text).toBe('item 9999');
    expect(result.content.at(-1)?.type).toBe('resource_link');
    expect(result.content.find(({ text }) => text?.includes('left out'))?.text).toMatch(
      /9,\d\d\d whole text items/,
    );
    expect(kept[0]?.text).toBe(many.join('\n'));
    expect(kept[0]?.facts.items.length).toBe(10_000);
  });

  test('keeps everything that is no text, in its order', async () => {
    const image = (data: string) => ({ type: 'image', mimeType: 'image/png', data });
    const { result } = await fit({
      content: [
        image('1'),
        { type: 'text', text: LINES },
        image('2'),
        { type: 'text', text: LINES },
        image('3'),
      ],
    });
    expect(result.content.map(({ type }) => type)).toEqual([
      'image',
      'text',
      'image',
      'text',
      'image',
      'resource_link',
    ]);
    expect(result.content[2]).toEqual(image('2'));
  });

  test('of empty ones is too long as well', async () => {
    const { result } = await fit(textResult(...Array.from({ length: 5000 }, () => '')));
    expect(result.content.length).toBeLessThan(1000);
  });
});

describe('everything else in a result stays', () => {
  test('unknown members, errors and annotations', async () => {
    const { result } = await fit(
      `{"_meta":{"x":1.0},"content":[{"annotations":{"audience":["user"]},"type":"text","text":${JSON.stringify(LINES)},"z":1}],"isError":true,"odd":[]}`,
    );
    expect(result).toMatchObject({ _meta: { x: 1 }, isError: true, odd: [] });
    expect(result.content[0]).toMatchObject({ annotations: { audience: ['user'] }, z: 1 });
  });

  test('structured content, of which the text says so', async () => {
    const structuredContent = { items: LINES.split('\n') };
    const { result } = await fit({ ...textResult(JSON.stringify(structuredContent)), structuredContent });
    expect(result.structuredContent).toEqual(structuredContent);
    expect(result.content[0]?.text).toContain('structuredContent was left whole.');
  });

  test('but for a member of structured content that is the text once more', async () => {
    for (const first of [true, false]) {
      const structuredContent = { content: LINES, other: 'x' };
      const { result } = await fit(
        first ? { structuredContent, ...textResult(LINES) } : { ...textResult(LINES), structuredContent },
      );
      expect(result.structuredContent).toEqual({ content: result.content[0]?.text, other: 'x' });
      expect(result.content[0]?.text).not.toContain('structuredContent');
    }
  });
});

describe('JSON texts lose their white space', () => {
  const value = { a: [1, { b: ' x  y ' }], c: '\\" { ' };

  test('where that is wanted, every number as it was written', async () => {
    const json = '{ "n" : 1.0 ,\n\t"big":9007199254740993, "s":" a  b \\" " }';
    const { result } = await fit(textResult(json), { minify: true });
    expect(result.content[0]?.text).toBe('{"n":1.0,"big":9007199254740993,"s":" a  b \\" "}');
    expect((await fit(textResult(json))).edits).toEqual([]);
  });

  test('and nothing else does', async () => {
    for (const text of ['{ not json }', '  [1, 2', 'a { } b', '', '"a  b"', '{"a": 1} {"b": 2}'])
      expect((await fit(textResult(text), { minify: true })).edits).toEqual([]);
  });

  test('and may fit then', async () => {
    const pretty = JSON.stringify(
      Array.from({ length: 40 }, () => value),
      null,
      8,
    );
    const { result, kept } = await fit(textResult(pretty), { minify: true, maxTokens: 1200 });
    expect(result.content[0]?.text).toBe(JSON.stringify(JSON.parse(pretty)));
    expect(kept).toEqual([]);
    expect((await fit(textResult(pretty), { maxTokens: 1200 })).kept.length).toBe(1);
  });

  test('without a limit of their length, too', async () => {
    const { result } = await fit(textResult(`[ "${LINES.replaceAll('\n', ' ')}" ]`), {
      minify: true,
      maxTokens: undefined,
    });
    expect(result.content[0]?.text?.startsWith('["line')).toBe(true);
  });
});
