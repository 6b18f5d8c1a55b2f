import type { Readable } from 'node:stream';
import { SwitchboardError } from '../../../shared/errors.ts';

/** More than any secret has, in bytes: longer input must be something else. */
const MAX_BYTES = 1024 * 1024;

/** Reads a stream to its end, without the trailing line break that `echo` and editors add. */
export async function readSecret(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BYTES)
      throw new SwitchboardError('SECRET_INVALID', 'The value on stdin is too long for a secret.', {
        hint: 'Nothing was stored.',
      });
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
    return text.replace(/\r?\n$/, '');
  } catch {
    throw new SwitchboardError('SECRET_INVALID', 'The value on stdin is not valid UTF-8.', {
      hint: 'Encode binary data first, for example with base64.',
    });
  }
}
