import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import fc from 'fast-check';
import { encode } from 'gpt-tokenizer';
import { describe, expect, test } from 'vitest';
import { estimateTokens } from './tokens.ts';

/** How far the estimate is from the count of the o200k tokenizer, in percent. */
function errorOf(text: string): number {
  return (estimateTokens(text) / encode(text).length - 1) * 100;
}

describe('the tool list of a real server is estimated within 10 %', () => {
  // The errors when this was fitted: everything -0.8 %, filesystem +1.6 %, memory +1.3 %.
  test.each([
    ['everything', import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')],
    ['filesystem', import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js')],
    ['memory', import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js')],
  ])('%s', async (_, entry) => {
    const tools = await toolsOf(fileURLToPath(entry));
    expect(Math.abs(errorOf(JSON.stringify({ tools })))).toBeLessThan(10);
    expect(Math.abs(errorOf(JSON.stringify({ tools }, null, 2)))).toBeLessThan(10);
    expect(Math.abs(errorOf(JSON.stringify(tools.map((tool) => tool.inputSchema))))).toBeLessThan(10);
  });

  test('and so are the suites in their place', () => {
    const tools = ['everything', 'filesystem', 'memory'].map((name) => ({
      name: `${name}_suite`,
      description: `Tools of ${name}. Use action "introspect" to list them, then "call" with subtool and args.`,
      inputSchema: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['introspect', 'call'] },
          subtool: { type: 'string' },
          args: { type: 'object' },
        },
        required: ['action'],
      },
    }));
    expect(Math.abs(errorOf(JSON.stringify({ tools })))).toBeLessThan(10);
  });
});

describe('any other text is estimated within 25 %', () => {
  const bytes = Buffer.from(
    Array.from({ length: 600 }, (_, index) => (index * 7919 + ((index * index) % 251)) & 255),
  );
  test.each([
    [
      'English prose',
      'The gateway reads only what it must rewrite: ids, method, the name it routes by, progress tokens and cursors. Everything else of a message passes untouched, so that unknown fields are kept and numbers keep their text.',
    ],
    [
      'numbers',
      JSON.stringify(
        Array.from({ length: 200 }, (_, index) => [(index * 7919) % 100_000, index / 37, -index]),
      ),
    ],
    [
      'records',
      JSON.stringify(
        Array.from({ length: 50 }, (_, id) => ({
          id,
          latitude: 48 + id / 97,
          ok: id % 2 === 0,
          value: null,
        })),
      ),
    ],
    [
      'Python',
      'def greet(name: str) -> None:\n    """Say hello."""\n    for i in range(10):\n        print(f"{i}: hello {name}")\n\nif __name__ == "__main__":\n    greet("world")\n',
    ],
    [
      'paths',
      '/usr/local/lib/node_modules/npm/bin/npm-cli.js\n/home/user/projects/switchboard/src/index.ts\nC:\\Users\\name\\settings.json\n',
    ],
    ['base64', bytes.toString('base64')],
    ['hexadecimal', bytes.toString('hex')],
    ['rulers and tables', `${'-'.repeat(80)}\n${'='.repeat(80)}\n| a | b |\n|---|---|\n`],
    [
      'Chinese',
      '网关只读取它必须改写的内容：标识、方法、用于路由的名称、进度令牌和游标。消息的其余部分保持原样，因此未知字段会被保留，数字也保持原来的写法。',
    ],
    [
      'Japanese',
      'ゲートウェイは書き換える必要があるものだけを読み取ります。メッセージの残りの部分はそのまま通過するため、未知のフィールドも保持されます。',
    ],
    [
      'Korean',
      '게이트웨이는 다시 써야 하는 것만 읽습니다. 메시지의 나머지 부분은 그대로 전달되므로 알 수 없는 필드도 유지됩니다.',
    ],
    [
      'Russian',
      'Шлюз читает только то, что должен переписать: идентификаторы, метод, имя для маршрутизации. Всё остальное проходит без изменений.',
    ],
    [
      'German',
      'Das Gateway liest nur, was es umschreiben muss: Kennungen, Methode und den Namen, nach dem es weiterleitet. Größere Änderungen würden für Überraschungen sorgen.',
    ],
    [
      'French',
      "La passerelle ne lit que ce qu'elle doit réécrire : les identifiants, la méthode et le nom utilisé pour le routage.",
    ],
    [
      'Greek',
      'Η πύλη διαβάζει μόνο ό,τι πρέπει να ξαναγράψει. Όλα τα υπόλοιπα περνούν ανέπαφα, ώστε τα άγνωστα πεδία να διατηρούνται.',
    ],
    [
      'Arabic',
      'تقرأ البوابة فقط ما يجب عليها إعادة كتابته: المعرفات والطريقة والاسم المستخدم للتوجيه. يمر كل شيء آخر في الرسالة دون تغيير.',
    ],
    [
      'Hindi',
      'गेटवे केवल वही पढ़ता है जिसे उसे फिर से लिखना होता है। संदेश का बाकी हिस्सा बिना बदलाव के गुजरता है।',
    ],
    [
      'Thai',
      'เกตเวย์จะอ่านเฉพาะสิ่งที่ต้องเขียนใหม่เท่านั้น ส่วนที่เหลือของข้อความจะผ่านไปโดยไม่มีการเปลี่ยนแปลง',
    ],
    [
      'emoji',
      'Done ✅ deploy 🚀 failed ❌ again 🔁 party 🎉🎉 family 👩‍👩‍👧‍👦 flag 🇩🇪 thumbs 👍🏽 bug 🐛 heart ❤️ warning ⚠️',
    ],
  ])('%s', (_, text) => {
    expect(Math.abs(errorOf(text))).toBeLessThan(25);
  });

  test('TypeScript', async () => {
    for (const file of ['tokens.ts', 'log.ts', 'nearest.ts']) {
      const code = await readFile(new URL(file, import.meta.url), 'utf8');
      expect(Math.abs(errorOf(code))).toBeLessThan(25);
    }
  });
});

test('no text costs nothing, and any text is at most as many tokens as bytes', () => {
  expect(estimateTokens('')).toBe(0);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const tokens = estimateTokens(text);
      expect(Number.isInteger(tokens)).toBe(true);
      expect(tokens).toBeGreaterThanOrEqual(0);
      expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text));
    }),
  );
});

// If the estimate were not linear, this would exceed the time limit of a test.
test('a megabyte of anything is estimated', () => {
  for (const unit of ['{"type":"string"},', ' ', 'x', '"', 'aB', '9', '漢', '😀']) {
    const text = unit.repeat(1_000_000 / unit.length);
    expect(estimateTokens(text)).toBeGreaterThan(0);
  }
});

async function toolsOf(entry: string) {
  const directory = await mkdtemp(join(tmpdir(), 'tokens-'));
  const client = new Client({ name: 'tokens-test', version: '0' });
  try {
    const env = { PATH: process.env['PATH'] ?? '', MEMORY_FILE_PATH: join(directory, 'memory.jsonl') };
    // The everything server expects the transport as its argument, so only this server gets the directory.
    const args = entry.includes('server-filesystem') ? [entry, directory] : [entry];
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }),
    );
    return (await client.listTools()).tools;
  } finally {
    await client.close();
    await rm(directory, { recursive: true, force: true });
  }
}
