import type { LanguageDefinition } from '../config/index.ts';
import type { ResolvedModel } from '../language/index.ts';
import { printable, printableLine } from '../shared/printable.ts';

/**
 * Which model is going to be asked and what that needs, for the person who has just chosen it, or has let the keys that
 * are there decide.
 */
export function modelNeeds(
  model: ResolvedModel,
  env: NodeJS.ProcessEnv,
  chosen: Pick<LanguageDefinition, 'model' | 'provider'>,
): string {
  if ('problem' in model) {
    const { message, hint } = model.problem;
    return `Action needed: ${printableLine(message)}\n  ${printable(hint)}\n`;
  }
  if (model.provider === 'host') {
    const isChosen = chosen.model !== undefined || chosen.provider !== undefined;
    const instead = isChosen
      ? ''
      : 'If it does not, set ANTHROPIC_API_KEY for the gateway, or wrap with --model and --base-url.\n';
    return `It uses the model of the host: no key is needed, but the host must support sampling with tools.\n${instead}`;
  }
  const key = KEYS[model.provider].find((name) => env[name]);
  const needs = key === undefined ? '' : ` Set ${key} where the gateway is started, as it is here.`;
  return `The model is ${printableLine(model.model)}.${needs}\n`;
}

const KEYS = { anthropic: ['ANTHROPIC_API_KEY', 'CLAUDE_API_KEY'], openai: ['OPENAI_API_KEY'] } as const;
