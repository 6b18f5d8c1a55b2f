import { envelope, modernHeaders } from './eras.ts';
import type { Target } from './http-client.ts';
import { textOf, type RpcMessage } from './raw-client.ts';

export const CANARY_TOOL = 'canary_suite';

/** The response of the canary server. */
export interface CanaryAnswer {
  readonly pid: number;
  readonly value: string | null;
}

/** One POST from a client without a session. */
export function postToCanary({ url, token }: Target, subtool: string, args: object = {}): Promise<Response> {
  const params = {
    name: CANARY_TOOL,
    arguments: { action: 'call', subtool, args },
    _meta: envelope({}),
  };
  return fetch(url, {
    method: 'POST',
    headers: modernHeaders(token, 'tools/call', CANARY_TOOL),
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
}

export async function callCanary(target: Target, subtool: string, args: object = {}): Promise<CanaryAnswer> {
  const text = await (await postToCanary(target, subtool, args)).text();
  const json = text.startsWith('{') ? text : /^data: (\{[^\n]*)$/m.exec(text)![1]!;
  return JSON.parse(textOf(JSON.parse(json) as RpcMessage)) as CanaryAnswer;
}
