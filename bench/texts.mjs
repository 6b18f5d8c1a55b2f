import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { structuredResult } from './lib/results.mjs';

/**
 * The classes of text that tools return, each as a tool result of about that many bytes. Text from this repository
 * contains the quotes, line breaks and backslashes that people and programs write.
 */
export const TEXT_CLASSES = {
  /** Documentation: long lines, few escapes. */
  prose: (bytes) => text(documents(), bytes),
  /** Source code: a line break every 40 characters, and quotes. */
  code: (bytes) => text(sources(), bytes),
  /** JSON inside a string: every fifth character is escaped. */
  json: (bytes) => text(lockFile(), bytes),
  /** Structured content: many small members. */
  structured: structuredResult,
  /** Nearly every character takes three bytes. */
  chinese: (bytes) => text(CHINESE, bytes),
  /** An image. */
  base64: (bytes) => ({ content: [{ type: 'image', mimeType: 'image/png', data: noise(bytes) }] }),
};

const ROOT = fileURLToPath(new URL('../', import.meta.url));

const documents = once(() => together('docs/adr', '.md') + together('docs/guide', '.md'));
const sources = once(() => together('src/gateway', '.ts') + together('src/wire', '.ts'));
const lockFile = once(() => readFileSync(`${ROOT}package-lock.json`, 'utf8'));

const CHINESE = `网关位于客户端与多个服务器之间。它接收客户端的请求，检查每一个字节是否合乎规范，然后把请求原样转交给相应的服务器。
服务器的回答按照编号送回提出请求的一方。如果某个服务器没有响应，其他服务器不应受到影响；等待超过期限时，客户端会收到一条明确的错误信息。
“工具”是服务器提供的功能，例如读取文件、查询数据库或搜索网页。每个工具都有名称、说明以及参数的格式（JSON Schema）。
为了节省模型的上下文，网关可以把一个服务器的全部工具合并为一个：模型先查看目录，再调用需要的那一项。配置写在 "switchboard.config.json" 中。

`;

function together(folder, extension) {
  return readdirSync(`${ROOT}${folder}`)
    .filter((name) => name.endsWith(extension) && !name.includes('.test.'))
    .sort()
    .map((name) => readFileSync(`${ROOT}${folder}/${name}`, 'utf8'))
    .join('\n');
}

/** A result with the text, repeated until it has that many bytes as JSON. */
function text(source, bytes) {
  const escaped = (length) => Buffer.byteLength(JSON.stringify(again.slice(0, length))) - 2;
  const again = source.repeat(Math.ceil(bytes / source.length));
  let [most, tooMany] = [0, bytes + 1];
  while (tooMany - most > 1) {
    const middle = (most + tooMany) >> 1;
    if (escaped(middle) <= bytes) most = middle;
    else tooMany = middle;
  }
  return { content: [{ type: 'text', text: again.slice(0, most) }] };
}

/** Base64 of bytes that look random but are the same each time. */
function noise(bytes) {
  let state = 1;
  const random = Buffer.alloc(Math.ceil(bytes / 4) * 3);
  for (let at = 0; at < random.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    random[at] = state >>> 24;
  }
  return random.toString('base64').slice(0, bytes - (bytes % 4));
}

function once(make) {
  let made;
  return () => (made ??= make());
}
