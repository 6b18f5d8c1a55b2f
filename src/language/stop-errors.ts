import { SwitchboardError } from '../shared/errors.ts';

// The reasons for which a request ends before the model is done, apart from the model's mistakes.

export function tooManySteps(server: string, steps: number, calls: number): SwitchboardError {
  const left = calls === 1 ? 'the call that the model wanted next was' : `${calls} more calls were`;
  return new SwitchboardError(
    'LANGUAGE_STEPS',
    `The request to server '${server}' was not finished after ${steps} ${steps === 1 ? 'step' : 'steps'}; ${left} not run.`,
    { hint: lessOr('maxSteps') },
  );
}

/** `tools`: how many tools the model may use, and what reading their descriptions costs each time. */
export function tooManyTokens(
  server: string,
  most: number,
  tools: { readonly count: number; readonly tokens: number },
): SwitchboardError {
  const message = `The request to server '${server}' needs more than its limit of ${most} tokens.`;
  if (tools.tokens < most / 4) {
    return new SwitchboardError('LANGUAGE_TOKENS', message, { hint: lessOr('maxTokens') });
  }
  return new SwitchboardError(
    'LANGUAGE_TOKENS',
    `${message} Its ${tools.count} tools alone add about ${tools.tokens} tokens to every request to the model.`,
    { hint: 'Let the model use fewer of them (exposedTools, hiddenTools), or raise "language.maxTokens".' },
  );
}

export function tooSlow(server: string, ms: number): SwitchboardError {
  return new SwitchboardError(
    'LANGUAGE_TIMEOUT',
    `The request to server '${server}' was not finished within ${ms} ms and was stopped.`,
    { hint: lessOr('timeoutMs') },
  );
}

/** `scarce`: a longer turn would have exceeded the allowed cost. */
export function cutOff(model: string, longest: number, scarce: boolean): SwitchboardError {
  return new SwitchboardError(
    'LANGUAGE_CUT_OFF',
    `The model ${model} was cut off after ${longest} tokens in one turn; the tools it was about to call were not run.`,
    { hint: scarce ? lessOr('maxTokens') : 'Ask for less at a time.' },
  );
}

export function modelRefusal(model: string): SwitchboardError {
  return new SwitchboardError('LANGUAGE_REFUSED', `The model ${model} refused the request.`);
}

export function noModelAnswer(model: string, server: string): SwitchboardError {
  return new SwitchboardError(
    'LANGUAGE_NO_ANSWER',
    `The model ${model} returned nothing, and nothing was done with server '${server}'.`,
    { hint: 'Describe more precisely what you want, or set another model as "language.model".' },
  );
}

function lessOr(setting: string): string {
  return `Ask for less at a time, or raise "language.${setting}".`;
}
