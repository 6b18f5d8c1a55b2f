import { RandomIdGenerator, type IdGenerator } from '@opentelemetry/sdk-trace';

/**
 * Random ids, one of which can be known before its span begins, because the request that contains it is written
 * earlier.
 */
export class SpanIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: string | undefined;

  generateTraceId(): string {
    return this.#random.generateTraceId();
  }

  generateSpanId(): string {
    const id = this.#next ?? this.#random.generateSpanId();
    this.#next = undefined;
    return id;
  }

  /** The next span gets this id. */
  use(id: string): void {
    this.#next = id;
  }
}
