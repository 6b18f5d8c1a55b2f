import type { LanguageDefinition } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Model } from './model.ts';

/** Which model would be asked, or why none can be. */
export type ResolvedModel =
  | { readonly provider: Model['provider']; readonly model: string }
  | { readonly problem: { readonly code: string; readonly message: string; readonly hint: string } };

/** Says which model the settings and the environment mean. It is not asked anything. */
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

/** Whether the client can be asked is known when one is there. */
const nobody = (): Promise<never> => Promise.reject(new Error('No client is connected.'));
