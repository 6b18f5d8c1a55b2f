import { badOutput, type Endpoint } from './failure.ts';

const MB = 1024 * 1024;
/** The most that is read of one response, in bytes. The longest responses of today's models have a hundredth of it. */
const LIMIT = 16 * MB;
/**
 * The longest event of a stream, and the longest response without a stream, in bytes: each is parsed without a pause.
 */
const EVENT_LIMIT = MB;

/** The same response, but its body fails if it, or one of its events, does not end. */
export function bounded(response: Response, endpoint: Endpoint): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.includes('json') !== true;
  let read = 0;
  let event = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read += chunk.byteLength;
      event = isStream ? sinceLastEvent(chunk, event) : read;
      if (read > LIMIT) controller.error(tooLarge(endpoint, 'a response', LIMIT));
      else if (event > EVENT_LIMIT)
        controller.error(tooLarge(endpoint, isStream ? 'an event' : 'a response', EVENT_LIMIT));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

/** The length of the current event after one more chunk. A blank line ends an event. */
function sinceLastEvent(chunk: Uint8Array, before: number): number {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const end = Math.max(bytes.lastIndexOf('\n\n'), bytes.lastIndexOf('\n\r\n'));
  return end === -1 ? before + bytes.length : bytes.length - end;
}

function tooLarge(endpoint: Endpoint, what: string, limit: number): Error {
  return badOutput(endpoint, `sent ${what} larger than ${limit / MB} MB`);
}
