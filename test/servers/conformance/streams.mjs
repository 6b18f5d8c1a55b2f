/** The streams of one legacy session over HTTP: one for each request, one for all else, each to be taken up again. */
const RETRY_MS = 100;
/** How many ended streams are kept for a client that comes back. */
const KEPT = 50;

export class SessionStreams {
  #streams = new Map();
  #lastId = 0;

  /** The stream of one request; `send` ends it with the message that has no method. */
  open(response, primed) {
    const stream = this.#add(response);
    // With an id before the first message, a client whose stream breaks early knows what to ask for.
    if (primed) stream.write('');
    return { send: stream.send, drop: stream.drop };
  }

  /** A message for nobody's request: to the general stream, if the client reads one. */
  push(message) {
    this.#streams.get('general')?.send(message);
  }

  /** Answers a GET: takes up the stream that the id is of, else opens the general one. */
  read(response, lastEventId) {
    const [id, at] = lastEventId?.split('_') ?? [];
    const stream = this.#streams.get(id);
    if (stream !== undefined) stream.attach(response, Number(at) + 1);
    else this.#add(response, 'general');
  }

  close() {
    for (const { drop } of this.#streams.values()) drop();
  }

  #add(response, id = String(++this.#lastId)) {
    const events = [];
    let reader;
    let ended = false;
    const put = (at) => {
      const retry = events[at] === '' ? `retry: ${RETRY_MS}\n` : '';
      reader?.write(`id: ${id}_${at}\n${retry}data: ${events[at]}\n\n`);
    };
    const stream = {
      write: (data) => put(events.push(data) - 1),
      send: (message) => {
        stream.write(JSON.stringify({ jsonrpc: '2.0', ...message }));
        if (id === 'general' || message.method !== undefined) return;
        ended = true;
        reader?.end();
      },
      drop: () => {
        reader?.end();
        reader = undefined;
      },
      attach: (next, from) => {
        stream.drop();
        reader = next;
        next.on('close', () => {
          if (reader === next) reader = undefined;
        });
        next.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
        next.flushHeaders();
        for (let at = from; at < events.length; at++) put(at);
        if (ended) next.end();
      },
    };
    stream.attach(response, 0);
    this.#streams.delete(id);
    this.#streams.set(id, stream);
    const oldest = [...this.#streams.keys()].find((key) => key !== 'general');
    if (this.#streams.size > KEPT) this.#streams.delete(oldest);
    return stream;
  }
}
