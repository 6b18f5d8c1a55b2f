import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assemblyForEsbuild } from '../scripts/lib/assembly.mjs';
import { median } from './lib/stats.mjs';
import { TEXT_CLASSES } from './texts.mjs';

const SIZES = [100, 10_000, 1_000_000];
/** How much is measured at once, in bytes. */
const ROUND = 4_000_000;

/**
 * The time to check a response and find its members, in milliseconds per megabyte, beside parsing the same bytes. Runs
 * in this process, one class and size after the other, in alternating rounds.
 */
export async function measureScan({ rounds }) {
  const { readMessage, SERVER_SHAPE } = await scanner();
  const scan = (buffer) => readMessage({ buffer, from: 0, to: buffer.length }, SERVER_SHAPE, 'newline');
  const parse = (buffer) => JSON.parse(buffer.toString());
  return Object.entries(TEXT_CLASSES).flatMap(([name, result]) =>
    SIZES.map((bytes) => {
      const answer = { jsonrpc: '2.0', id: 1_000_000, result: result(bytes) };
      const buffer = Buffer.from(JSON.stringify(answer));
      if (scan(buffer).length !== buffer.length) throw new Error(`${name} of ${bytes} bytes is refused`);
      const seen = { scan: [], parse: [] };
      for (let round = -2; round < rounds; round++) {
        const scanned = perMegabyte(scan, buffer);
        const parsed = perMegabyte(parse, buffer);
        if (round < 0) continue;
        seen.scan.push(scanned);
        seen.parse.push(parsed);
      }
      return {
        name,
        bytes,
        scan: median(seen.scan),
        scanLeast: Math.min(...seen.scan),
        parse: median(seen.parse),
      };
    }),
  );
}

function perMegabyte(act, buffer) {
  const times = Math.ceil(ROUND / buffer.length);
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) act(buffer);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / ((buffer.length * times) / 1e6);
}

/** The scanner, bundled as in dist/. */
async function scanner() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  try {
    const outfile = join(folder, 'scanner.mjs');
    await build({
      stdin: {
        contents: `export { readMessage } from './src/wire/index.ts';
          export { SERVER_SHAPE } from './src/protocol/index.ts';`,
        resolveDir: fileURLToPath(new URL('../', import.meta.url)),
      },
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      minifySyntax: true,
      plugins: [assemblyForEsbuild],
    });
    return await import(pathToFileURL(outfile));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
