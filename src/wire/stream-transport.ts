import type { Readable, Writable } from 'node:stream';
import { Envelope } from './envelope.ts';
import { Deframer, type Framing, type OutputFraming } from './framing.ts';
import { Message, readMessage } from './message.ts';
import type { MessageReceiver, MessageTransport } from './message-transport.ts';
import { Outbox } from './outbox.ts';
import type { Shape } from './shape.ts';
import { TurnReader } from './turn-reader.ts';

export interface StreamTransportOptions {
  /** The members to find in every message; contains the envelope. */
  readonly shape: Shape;
  /** The output framing until the other side has shown its own; `either` never lasts beyond that. Default newline. */
  readonly framing?: OutputFraming;
  /** The framing of the input, if known. Default: that of the first message. */
  readonly inputFraming?: Framing | undefined;
  /** Whether to write in the framing that the other side started with. Default true. */
  readonly replyInKind?: boolean;
  /** The largest accepted message, in bytes. Default 16 MiB. */
  readonly messageBytes?: number;
  /** How far a message may exceed that before the stream counts as broken, in bytes. Default 64 MiB. */
  readonly overrunBytes?: number;
  /** The amount of waiting output beyond which the wire counts as congested, in bytes. Default 4 MiB. */
  readonly highWater?: number;
  /** Whether the output is a pipe, socket or file, which keeps no reference to written buffers. Default false. */
  readonly takesCopies?: boolean;
}

const MIB = 1024 * 1024;
/** How many parts of messages are read before other work gets a turn: about half as many messages. */
const PARTS_AT_ONCE = 256;

/** Carries messages over a pair of byte streams, as lines or in Content-Length frames. */
export class StreamTransport extends Outbox implements MessageTransport {
  inputFraming: Framing | undefined = undefined;
  readonly #reader: TurnReader;
  readonly #shape: Shape;
  #readsRareMembers = false;
  #receiver!: MessageReceiver;

  constructor(input: Readable, output: Writable, options: StreamTransportOptions) {
    super(output, {
      framing: options.framing ?? 'newline',
      highWater: options.highWater ?? 4 * MIB,
      takesCopies: options.takesCopies ?? false,
    });
    this.#shape = options.shape;
    const replyInKind = (): void => {
      if ((options.replyInKind ?? true) && deframer.framing) this.framing = deframer.framing;
    };
    const deframer = new Deframer(
      { messageBytes: options.messageBytes ?? 16 * MIB, overrunBytes: options.overrunBytes ?? 64 * MIB },
      {
        message: (bytes, framing) => {
          replyInKind();
          const read = readMessage(bytes, this.#shape, framing, this.#readsRareMembers);
          if (!(read instanceof Message)) this.#receiver.receiveUnreadable(read, bytes, framing);
          else {
            // Other JSON may be a log line.
            if (this.inputFraming === undefined && read.has(Envelope.jsonrpc)) {
              deframer.settle(framing);
              this.#learnFraming(framing);
            }
            this.#receiver.receive(read);
          }
        },
        oversize: (head, tail, length) => {
          replyInKind();
          this.#receiver.receiveOversize(head, tail, length);
        },
        badHeader: (header) => this.#receiver.receiveBadHeader(header),
        overrun: () => this.#receiver.receiveEnd('overrun'),
      },
    );
    if (options.inputFraming !== undefined) deframer.settle(options.inputFraming);
    this.#reader = new TurnReader(input, (chunk, from) => deframer.push(chunk, from, PARTS_AT_ONCE));
    const over = (): void => this.#reader.whenRead(() => this.#receiver.receiveEnd('end'));
    input.on('end', () => {
      this.#reader.whenRead(() => deframer.end());
      over();
    });
    // A stream that breaks also ends; the reason is known where the stream was opened.
    input.on('error', over);
    input.on('close', over);
  }

  connect(receiver: MessageReceiver): void {
    this.#receiver = receiver;
  }

  pause(): void {
    this.#reader.pause();
  }

  resume(): void {
    this.#reader.resume();
  }

  /** Calls back once everything that has arrived is read; at once, if it already is. */
  whenRead(listener: () => void): void {
    this.#reader.whenRead(listener);
  }

  readRareMembers(): void {
    this.#readsRareMembers = true;
  }

  #learnFraming(framing: Framing): void {
    this.inputFraming = framing;
    if (this.framing === 'either') this.framing = framing;
  }
}
