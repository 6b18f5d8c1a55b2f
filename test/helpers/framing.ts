export type Framing = 'newline' | 'content-length';

/** One message as bytes on the wire. A string or Buffer is used as the finished JSON text. */
export function encode(message: unknown, framing: Framing = 'newline'): Buffer {
  const body = Buffer.isBuffer(message)
    ? message
    : Buffer.from(typeof message === 'string' ? message : JSON.stringify(message));
  return framing === 'newline'
    ? Buffer.concat([body, Buffer.from('\n')])
    : Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/** Receives each complete message body; `problem` says what was wrong with its frame. */
export type Receive = (body: Buffer, problem?: string) => void;

export interface Reader {
  push(chunk: Buffer): void;
  /** The stream has ended: the rest is reported as a problem. */
  end(): void;
}

/** Splits a stream of bytes into messages, wherever its chunks end. */
export function createReader(framing: Framing, receive: Receive): Reader {
  return framing === 'newline' ? lineReader(receive) : frameReader(receive);
}

function lineReader(receive: Receive): Reader {
  let parts: Buffer[] = [];
  return {
    push(chunk) {
      let start = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        parts.push(chunk.subarray(start, end));
        receive(Buffer.concat(parts));
        parts = [];
        start = end + 1;
      }
      if (start < chunk.length) parts.push(chunk.subarray(start));
    },
    end() {
      if (parts.length > 0) receive(Buffer.concat(parts), 'the last line has no newline');
      parts = [];
    },
  };
}

function frameReader(receive: Receive): Reader {
  let buffer = Buffer.alloc(0);
  let head: { length: number; problem: string | undefined } | undefined;
  return {
    push(chunk) {
      buffer = Buffer.concat([buffer, chunk]);
      for (;;) {
        if (head === undefined) {
          const end = buffer.indexOf('\r\n\r\n');
          if (end < 0) return;
          head = parseHead(buffer.subarray(0, end).toString('latin1'));
          buffer = buffer.subarray(end + 4);
        }
        if (buffer.length < head.length) return;
        receive(buffer.subarray(0, head.length), head.problem);
        buffer = buffer.subarray(head.length);
        head = undefined;
      }
    },
    end() {
      if (buffer.length > 0 || head !== undefined) receive(buffer, 'the last frame is incomplete');
      buffer = Buffer.alloc(0);
      head = undefined;
    },
  };
}

function parseHead(text: string): { length: number; problem: string | undefined } {
  const lines = text.split('\r\n');
  const lengths = lines.flatMap((line) => /^content-length: *(\d+)$/i.exec(line)?.[1] ?? []);
  const wellFormed = lines.every((line) => /^[\w-]+: *[^\r\n]*$/.test(line));
  const problem =
    lengths.length === 1 && wellFormed ? undefined : `not one Content-Length header: ${JSON.stringify(text)}`;
  return { length: Number(lengths[0] ?? 0), problem };
}
