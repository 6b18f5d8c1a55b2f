import { Turns } from '../../shared/turns.ts';

/**
 * The data of the events in a stream (`text/event-stream`), one after the other. Comments and event types are skipped.
 */
export async function* eventData(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const turns = new Turns();
  let rest = '';
  let data: string[] = [];
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      if (text.startsWith('data:')) data.push(text.slice(text.startsWith('data: ') ? 6 : 5));
      else if (text === '' && data.length > 0) {
        yield data.join('\n');
        data = [];
      }
      // Thousands of lines may arrive at once.
      const turn = turns.next();
      if (turn !== undefined) await turn;
    }
  }
  // Some servers do not end their last event.
  if (rest.startsWith('data:')) data.push(rest.slice(5).trim());
  if (data.length > 0) yield data.join('\n');
}
