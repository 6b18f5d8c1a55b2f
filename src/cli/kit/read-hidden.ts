import type { Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import { StringDecoder } from 'node:string_decoder';

interface HiddenOptions {
  readonly input: ReadStream;
  readonly output: Writable;
  /** Ends the question; the promise rejects with its reason. */
  readonly signal: AbortSignal;
}

/** Terminals mark pasted text, so that a line break in it is not taken for Enter. */
const PASTE_ON = '\x1b[?2004h';
const PASTE_OFF = '\x1b[?2004l';

/** Asks a person at a terminal for a text without showing it. Pasted text may have several lines. */
export function readHidden(question: string, { input, output, signal }: HiddenOptions): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let typed = '';
  let pasting = false;
  return new Promise<string>((resolve, reject) => {
    const end = (): void => {
      input.off('data', take);
      signal.removeEventListener('abort', aborted);
      input.setRawMode(false);
      input.pause();
      output.write(`${PASTE_OFF}\n`);
    };
    const aborted = (): void => {
      end();
      reject(signal.reason as Error);
    };
    /** Returns whether it ends the question. */
    const press = (key: string): boolean => {
      if (key === '\x1b[200~') pasting = true;
      else if (key === '\x1b[201~') pasting = false;
      else if (pasting) typed += key === '\r' ? '\n' : key;
      else if (key === '\x03') process.kill(process.pid, 'SIGINT');
      else if (key === '\r' || key === '\n' || key === '\x04') return true;
      else if (key === '\x7f' || key === '\b') typed = typed.replace(/.$/su, '');
      else if (key === '\x15') typed = '';
      else if (!key.startsWith('\x1b')) typed += key;
      return false;
    };
    const take = (chunk: Buffer): void => {
      for (const [key] of decoder.write(chunk).matchAll(KEY)) {
        if (!press(key)) continue;
        end();
        resolve(typed.replace(/\n$/, ''));
        return;
      }
    };
    input.setRawMode(true);
    output.write(`${PASTE_ON}${question}`);
    input.on('data', take);
    signal.addEventListener('abort', aborted, { once: true });
    input.resume();
  });
}

/** One key, or the sequence that a special key sends. */
// eslint-disable-next-line no-control-regex -- such sequences begin with one
const KEY = /\x1b(?:\[[\d;?]*[ -/]*[@-~]|O.|.)?|[^]/gu;
