/**
 * `npm run picture`: runs the demo and writes what it printed as docs/images/demo.svg, the picture in the README. Steps 3
 * and 4 are left out to keep it short.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters as plain } from 'node:util';

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`);
const COLUMNS = 100;
const ROW = 19;
const LEFT = 20;
const TOP = 44;

const demo = fileURLToPath(new URL('demo.mjs', import.meta.url));
const printed = execFileSync(process.execPath, [demo], {
  encoding: 'utf8',
  env: { ...process.env, FORCE_COLOR: '1', NO_COLOR: '' },
});
const picture = fileURLToPath(new URL('../docs/images/demo.svg', import.meta.url));
writeFileSync(picture, svg(shortened(printed)));
console.log(`wrote ${picture}`);

function shortened(text) {
  const lines = text.trim().split('\n');
  const from = lines.findIndex((line) => plain(line).startsWith('3. '));
  const to = lines.findIndex((line) => plain(line).startsWith('Tokens saved'));
  if (from < 0 || to < from) throw new Error('The demo prints something else now: adapt this script.');
  // The last lines only say what to run next.
  const end = lines.findLastIndex((line) => plain(line).includes('fewer tokens'));
  return [...lines.slice(0, from), ...lines.slice(to, end + 1)];
}

function svg(lines) {
  const width = COLUMNS * 8.43 + 2 * LEFT;
  const height = TOP + lines.length * ROW + 12;
  const rows = lines.map(
    (line, at) => `<text x="${LEFT}" y="${TOP + (at + 1) * ROW - 5}">${spans(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="npm run demo: the tools of four servers cost ${tokens(lines, 'flat')} tokens directly and ${tokens(lines, 'suites')} as suites">
<style>
  rect { fill: #f6f8fa; stroke: #d0d7de }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }
  .bold { font-weight: 600 } .dim { fill: #656d76 } .green { fill: #1a7f37 } .cyan { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    rect { fill: #0d1117; stroke: #30363d }
    text { fill: #e6edf3 } .dim { fill: #8d96a0 } .green { fill: #3fb950 } .cyan { fill: #58a6ff }
  }
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
<text x="${LEFT}" y="27" class="dim">$ npm run demo</text>
${rows.join('\n')}
</svg>
`;
}

/** The number at the end of a bar. */
function tokens(lines, name) {
  const bar = lines.map(plain).find((line) => line.startsWith(`  ${name} `));
  return bar.split(' ').at(-1);
}

/** The colored parts of one line as elements, cut at the edge of the picture. */
function spans(line) {
  let room = COLUMNS;
  let style = '';
  let out = '';
  // With a group in the pattern, every second part is the number of a color.
  for (const [at, part] of line.split(COLOUR).entries()) {
    if (at % 2 === 1) {
      style = { 1: 'bold', 2: 'dim', 32: 'green', 36: 'cyan' }[part] ?? '';
      continue;
    }
    if (part === '' || room <= 0) continue;
    const text = part.length > room ? `${part.slice(0, room - 1)}…` : part;
    room -= part.length;
    out += style === '' ? escaped(text) : `<tspan class="${style}">${escaped(text)}</tspan>`;
  }
  return out;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
