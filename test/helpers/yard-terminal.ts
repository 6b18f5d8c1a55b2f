import { spawn, spawnSync } from 'node:child_process';
import { SWITCHYARD, type TestYard } from './yard.ts';

/** Gives a program a terminal of its own. */
const SCRIPT = 'script';

/** Whether this machine can do that. */
export function hasTerminals(): boolean {
  return spawnSync(SCRIPT, ['-qec', 'true', '/dev/null']).status === 0;
}

/** Runs `switchyard` in a terminal and returns what it shows. Once `question` appears, types `answer` as a line. */
export async function inTerminal(
  yard: TestYard,
  args: readonly string[],
  { question, answer = '' }: { readonly question?: string; readonly answer?: string } = {},
): Promise<string> {
  const line = [process.execPath, SWITCHYARD, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn(SCRIPT, ['-qec', line, '/dev/null'], {
    cwd: yard.dir,
    env: { ...yard.env, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let seen = '';
  let isAnswered = question === undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    if (isAnswered || question === undefined || !seen.includes(question)) return;
    isAnswered = true;
    child.stdin.write(`${answer}\n`);
  });
  await new Promise((resolve) => child.once('close', resolve));
  return seen;
}
