import { envelope, modernHeaders } from './eras.ts';
import { HttpSession, type Target } from './http-client.ts';

/** Sends the requests of an abuse, and ignores the responses. */
export interface Abuser {
  request(method: string, params: object, options?: { readonly deadline?: number }): Promise<unknown>;
  call(name: string, args: object, options?: { readonly deadline?: number }): Promise<unknown>;
}

/** HTTP clients with and without a session, which read each response to the end and keep nothing. */
export const HTTP_ABUSERS: Readonly<Record<string, (target: Target) => Promise<Abuser>>> = {
  'with a session': async (target) => {
    const session = await HttpSession.open(target, { version: '2025-11-25' });
    return abuser((body) => session.post(body));
  },
  'without a session': ({ url, token }) => {
    const post = (body: string, method: string, params: { readonly name?: string }): Promise<Response> =>
      fetch(url, { method: 'POST', headers: modernHeaders(token, method, params.name), body });
    return Promise.resolve(abuser(post, { _meta: envelope({}) }));
  },
};

function abuser(
  post: (body: string, method: string, params: object) => Promise<Response>,
  more: object = {},
): Abuser {
  let lastId = 0;
  const request = async (method: string, given: object): Promise<void> => {
    const params = { ...given, ...more };
    const response = await post(
      JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params }),
      method,
      params,
    );
    try {
      await response.body?.pipeTo(new WritableStream());
    } catch {
      // The gateway may cut a response off.
    }
  };
  return { request, call: (name, args) => request('tools/call', { name, arguments: args }) };
}
