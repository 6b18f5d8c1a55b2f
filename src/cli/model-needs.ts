import type { MeantModel } from '../language/index.ts';
import { printable, printableLine } from '../shared/printable.ts';

/** Which model is going to be asked and what that needs, for the person who has just chosen it. */
export function modelNeeds(meant: MeantModel, env: NodeJS.ProcessEnv): string {
  if ('problem' in meant) {
    const { message, hint } = meant.problem;
    return `There is something left to do: ${printableLine(message)}\n  ${printable(hint)}\n`;
  }
  if (meant.provider === 'host')
    return 'The model is that of the host: no key is needed, and the host must let servers use it (sampling).\n';
  const key = KEYS[meant.provider].find((name) => env[name]);
  const needs = key === undefined ? '' : ` ${key} must be set where the gateway is started, as it is here.`;
  return `The model is ${printableLine(meant.model)}.${needs}\n`;
}

const KEYS = { anthropic: ['ANTHROPIC_API_KEY', 'CLAUDE_API_KEY'], openai: ['OPENAI_API_KEY'] } as const;
