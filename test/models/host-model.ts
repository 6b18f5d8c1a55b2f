import type { Brain } from './brain.ts';
import { heardByHost } from './brain.ts';
import type { ScriptedSpeech } from './script.ts';

/** The scripted model of a client: answers `sampling/createMessage`, with tools. */
export async function sample(brain: Brain, params: any, signal: AbortSignal): Promise<object> {
  const abandoned = new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve());
  });
  const turn = brain.hear(heardByHost(params), abandoned);
  if (typeof turn === 'string') return turnOf({ text: turn });
  if ('status' in turn) throw Object.assign(new Error(turn.message), { code: turn.status });
  if ('instead' in turn || turn.midway === 'hang') {
    await abandoned;
    throw new Error('Nobody waits for this any more.');
  }
  if (turn.midway !== undefined) throw new Error(`A client cannot answer by halves: ${turn.midway}`);
  return turnOf(turn);
}

const STOPS = { done: 'endTurn', calls: 'toolUse', length: 'maxTokens', refused: 'refusal' };

let lastId = 0;

function turnOf({ text, calls = [], stop }: ScriptedSpeech): object {
  const uses = calls.map(({ id = `use-${++lastId}`, name, input = {} }) => ({
    type: 'tool_use',
    id,
    name,
    input,
  }));
  const said = text === undefined ? [] : [{ type: 'text', text }];
  const content = [...said, ...uses];
  return {
    role: 'assistant',
    model: 'scripted',
    content: content.length === 1 ? content[0] : content,
    stopReason: STOPS[stop ?? (uses.length > 0 ? 'calls' : 'done')],
  };
}
