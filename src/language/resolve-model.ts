import type { LanguageDefinition } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Model } from './model.ts';

/** Which model would be used, or why none can be. */
export type ResolvedModel =
  | { readonly provider: Model['provider']; readonly model: string }
  | { readonly problem: { readonly code: string; readonly message: string; readonly hint: string } };

/** Determines which model the settings and the environment select, without calling it. */
export async function resolveModel(
  settings: Pick<LanguageDefinition, 'model' | 'provider' | 'baseUrl' | 'apiKey'>,
  env: NodeJS.ProcessEnv,
): Promise<ResolvedModel> {
  const { chooseModel } = await import('./models/choose.ts');
  try {
    const { provider, name } = await chooseModel(settings, env, nobody);
    return { provider, model: name };
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    const { code, message, hint = 'Correct "language" of the server.' } = error;
    return { problem: { code, message, hint } };
  }
}

/** Whether a client offers a model is only known once it is connected. */
const nobody = (): Promise<never> => Promise.reject(new Error('No client is connected.'));
