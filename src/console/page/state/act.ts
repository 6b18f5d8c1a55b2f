/** Sends actions to the server. */
import type { ActionName, ActionRequest, ActionResponse, Actions } from '../../protocol.ts';

/** A page of another origin cannot send this header. */
export const HEADERS = { 'switchboard-console': '1' };

let unauthorized: () => void = () => undefined;
export const onUnauthorized = (listener: () => void): void => void (unauthorized = listener);

/** Never rejects: failures on the way are returned like any other error. */
export async function act<M extends ActionName>(
  method: M,
  params: Actions[M]['params'],
): Promise<ActionResponse<M>> {
  const request: ActionRequest<M> = { method, params };
  try {
    const response = await fetch('/console/actions', {
      method: 'POST',
      headers: { ...HEADERS, 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    if (response.status === 401) {
      unauthorized();
      return failure('This page is no longer logged in.', 'Run `switchboard console` for a new link.');
    }
    if (!response.ok)
      return failure(`The console returned status ${response.status}.`, 'Reload the page and try again.');
    return (await response.json()) as ActionResponse<M>;
  } catch {
    return failure('The console cannot be reached.', 'Check that `switchboard console` is still running.');
  }
}

const failure = <M extends ActionName>(message: string, nextStep: string): ActionResponse<M> => ({
  ok: false,
  error: { code: 'E_CONSOLE_UNREACHABLE', message, nextStep },
});
