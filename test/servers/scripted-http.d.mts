/** See scripted-http.mjs. */
export interface ScriptedHttp {
  readonly url: string;
  close(): Promise<void>;
}

export function startScriptedHttp(options: { modern: boolean; events: boolean }): Promise<ScriptedHttp>;
