import { badOutput, type Endpoint } from './failure.ts';

/** The most that is read of one answer, in bytes. The longest answers of today's models have a hundredth of it. */
const LIMIT = 16 * 1024 * 1024;

/** The same response, whose body fails when it does not end. */
export function bounded(response: Response, endpoint: Endpoint): Response {
  if (response.body === null) return response;
  let read = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      read += chunk.byteLength;
      if (read > LIMIT) {
        controller.error(badOutput(endpoint, `sent a response larger than ${LIMIT / 1024 / 1024} MB`));
      } else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
