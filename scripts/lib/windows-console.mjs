/**
 * Tests what a user sees in a console, and that Ctrl-C reaches the program there. Uses Wine in a Linux terminal: its
 * console draws what Windows programs write, and turns Ctrl-C into the Windows event for it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './bundle.mjs';

const TESTS = {
  'a console shows every character, and colours': async (start) => {
    const { ended } = start('list');
    const { code, shown } = await ended;
    return code === 0 && /größe {2,}/.test(shown) && shown.includes('–') && shown.includes('\x1b[1m');
  },
  'Ctrl-C in a console stops a gateway': async (start) => {
    const { type, until, ended } = start('--http', '127.0.0.1:0');
    await until('Others (');
    type('\x03');
    const { code, shown } = await ended;
    return code === 0 && shown.includes('why=SIGINT');
  },
};

/** Runs the tests one after the other. Returns results like those of other tests; `folder` is for their files. */
export async function consoleTests({ terminal, path }, { folder, timeout }) {
  mkdirSync(folder, { recursive: true });
  const node = { command: 'node', args: ['server.js'] };
  writeFileSync(join(folder, 'switchboard.config.json'), JSON.stringify({ mcpServers: { größe: node } }));
  const env = { SWITCHBOARD_ALLOW_PROJECT: '1', SWITCHBOARD_STATE_DIR: path(join(folder, 'state')) };
  const results = [];
  for (const [name, test] of Object.entries(TESTS)) {
    let child;
    let shown = '';
    const waiting = new Set();
    const start = (...args) => {
      child = terminal([path(join(ROOT, 'dist/index.js')), ...args], { cwd: folder, env });
      child.stdout.setEncoding('utf8').on('data', (text) => {
        shown += text;
        for (const check of waiting) check();
      });
      return {
        type: (keys) => child.stdin.write(keys),
        until: (text) =>
          new Promise((resolve) => {
            const check = () => shown.includes(text) && resolve();
            waiting.add(check);
            check();
          }),
        ended: new Promise((resolve) => child.once('close', (code) => resolve({ code, shown }))),
      };
    };
    const late = AbortSignal.timeout(timeout);
    const tooLate = new Promise((resolve) => late.addEventListener('abort', () => resolve(false)));
    const passed = await Promise.race([test(start), tooLate]);
    if (child.exitCode === null) child.kill('SIGKILL');
    const problems = passed
      ? []
      : [`exit code ${child.exitCode}, and the console showed ${JSON.stringify(shown)}`];
    results.push({ name: `console › ${name}`, state: passed ? 'pass' : 'fail', problems });
  }
  return results;
}
