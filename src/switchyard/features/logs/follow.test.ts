import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { rotateForRun } from '../../runtime/logs/rotate.ts';
import { followLogs, type FollowOptions } from './follow.ts';

let directory: string;
let web: string;
let api: string;
let stop: AbortController;
let following: Promise<void> | undefined;
/** Everything that was reported, each line with the first letter of its log. */
let told: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchyard-follow-'));
  web = join(directory, 'web.log');
  api = join(directory, 'api.log');
  stop = new AbortController();
  told = [];
});
afterEach(async () => {
  stop.abort();
  await following;
  rmSync(directory, { recursive: true, force: true });
});

function follow(options: Partial<FollowOptions> = {}): void {
  following = followLogs({
    files: [web],
    signal: stop.signal,
    poll: 50,
    onLines: (file, lines) => void told.push(...lines.map((line) => `${file === web ? 'w' : 'a'} ${line}`)),
    ...options,
  });
}

async function until(lines: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(told).toEqual(lines), { timeout: 20_000, interval: 10 });
}

describe('followLogs', () => {
  it('reports only what is added, without colors', async () => {
    writeFileSync(web, 'old\n');
    follow();
    appendFileSync(web, '\u001b[32mnew\u001b[0m\nnewer\n');
    await until(['w new', 'w newer']);
  });

  it('reports the last lines first if requested, each line once', async () => {
    writeFileSync(web, 'one\ntwo\nthree\nbegu');
    follow({ lines: 2 });
    appendFileSync(web, 'n\nafter\n');
    await until(['w two', 'w three', 'w begun', 'w after']);
  });

  it('follows several logs, including one that does not exist yet', async () => {
    writeFileSync(web, '');
    follow({ files: [web, api] });
    appendFileSync(web, 'first\n');
    await until(['w first']);
    writeFileSync(api, 'second\n');
    await until(['w first', 'a second']);
  });

  it('waits for a directory that does not exist yet', async () => {
    rmSync(directory, { recursive: true });
    follow();
    const { mkdirSync } = await import('node:fs');
    mkdirSync(directory);
    writeFileSync(web, 'first\n');
    await until(['w first']);
  });

  it('continues with the log of a new run, after the end of the old one', async () => {
    writeFileSync(web, 'run 1\n');
    follow();
    appendFileSync(web, 'bye\nno newline');
    rotateForRun(web);
    writeFileSync(web, 'run 2\n');
    await until(['w bye', 'w no newline', 'w run 2']);
    appendFileSync(web, 'more\n');
    await until(['w bye', 'w no newline', 'w run 2', 'w more']);
  });

  it('starts over when a log was truncated', async () => {
    writeFileSync(web, 'something long enough\n');
    follow();
    appendFileSync(web, 'last\n');
    await until(['w last']);
    truncateSync(web, 0);
    appendFileSync(web, 'x\n');
    await until(['w last', 'w x']);
  });

  it('continues while a log is missing', async () => {
    writeFileSync(web, '');
    follow();
    const away = join(directory, 'away.log');
    renameSync(web, away);
    appendFileSync(away, 'still here\n');
    await until(['w still here']);
  });

  it('reports an incomplete line once it stops growing, and its rest as another line', async () => {
    writeFileSync(web, '');
    follow();
    appendFileSync(web, 'Continue? ');
    await until(['w Continue? ']);
    appendFileSync(web, 'yes\ndone\n');
    await until(['w Continue? ', 'w yes', 'w done']);
  });

  it('reports no empty line when only the end of such a line arrives', async () => {
    writeFileSync(web, '');
    follow();
    appendFileSync(web, 'Continue? ');
    await until(['w Continue? ']);
    appendFileSync(web, '\n\ndone\n');
    await until(['w Continue? ', 'w ', 'w done']);
  });

  it('reports only lines that match the pattern', async () => {
    writeFileSync(web, 'error before\nfine before\n');
    follow({ lines: 10, grep: 'error' });
    appendFileSync(web, 'fine\nan error\n');
    await until(['w error before', 'w an error']);
  });

  it('reports every line of a flood once and in order, with characters intact', async () => {
    writeFileSync(web, '');
    const lines = Array.from({ length: 50_000 }, (_, index) => `é ${index}`);
    // So long that a pause in the middle of a line does not look like its end, however busy the machine is.
    follow({ poll: 10_000 });
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    for (let start = 0; start < bytes.length; start += 99_991) {
      appendFileSync(web, bytes.subarray(start, start + 99_991));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await vi.waitFor(() => expect(told.length).toBe(lines.length), { timeout: 20_000 });
    expect(told).toEqual(lines.map((line) => `w ${line}`));
  });

  it('truncates a line that never ends, and continues after it', async () => {
    writeFileSync(web, '');
    follow();
    appendFileSync(web, `${'x'.repeat(3_000_000)}\nnext\n`);
    await vi.waitFor(() => expect(told.at(-1)).toBe('w next'), { timeout: 20_000 });
    expect(told).toHaveLength(2);
    expect(told[0]).toMatch(/^w x{16384}…$/);
  });

  it('reads nothing while the listener is busy, and ends immediately when aborted', async () => {
    writeFileSync(web, '');
    let release!: () => void;
    const busy = new Promise<void>((resolve) => (release = resolve));
    follow({
      onLines: async (_, lines) => {
        told.push(...lines);
        await busy;
      },
    });
    appendFileSync(web, 'one\n');
    await until(['one']);
    appendFileSync(web, 'two\n');
    stop.abort();
    release();
    await following;
    expect(told).toEqual(['one']);
  });
});
