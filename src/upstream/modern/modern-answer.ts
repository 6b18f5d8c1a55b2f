import type { Call } from '../../gateway/index.ts';
import { Server, SERVER_SHAPE } from '../../protocol/index.ts';
import { Message, RpcCode, withMembers } from '../../wire/index.ts';

/** What a modern server says with an answer, beside the answer. */
export type ResultKind = 'complete' | 'input_required' | 'other';

export function resultKind(answer: Message): ResultKind {
  if (!answer.has(Server.resultType)) return 'complete';
  const type = answer.string(Server.resultType);
  return type === 'complete' || type === 'input_required' ? type : 'other';
}

/**
 * A modern server's result for a client of the era before: without the members that say how it may be kept and what
 * kind it is. Clients of that time check results against schemas that need not allow them. The rest keeps its text. Call
 * takes an answer, not edits to one, so the bytes are written again; only calls between the eras pay for that.
 */
export function legacyAnswer(answer: Message): Message {
  const strange = [Server.resultType, Server.ttlMs, Server.cacheScope].some((slot) => answer.has(slot));
  if (!strange) return answer;
  const result = withMembers(answer.text(Server.result)!, {
    resultType: undefined,
    ttlMs: undefined,
    cacheScope: undefined,
  });
  return Message.fromText(withMembers(answer.toString(), { result }), SERVER_SHAPE);
}

/** What a client of the era before is told of a result that it cannot know, such as a task that it did not ask for. */
export function unknownKind(call: Call, answer: Message): Message {
  const type = answer.text(Server.resultType)!.slice(0, 100);
  const what = type === '"task"' ? 'a task' : `a result of type ${type}`;
  const message = `${call.subject()} returned ${what}, which the client does not support: it uses an older protocol version.`;
  return Message.from(
    {
      jsonrpc: '2.0',
      id: answer.integer(Server.id),
      error: { code: RpcCode.serverError, message },
    },
    SERVER_SHAPE,
  );
}
