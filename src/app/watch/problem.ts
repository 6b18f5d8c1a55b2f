import type { Problem } from '../../console/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { plainLine } from '../../shared/printable.ts';

/** An error as the console shows it; `mask` hides secrets. */
export function problemOf(error: unknown, mask: (text: string) => string = (text) => text): Problem {
  const shown = (text: string): string => plainLine(mask(text)).slice(0, MAX_CHARS);
  if (error instanceof SwitchboardError)
    return {
      code: error.code,
      message: shown(error.message),
      nextStep: error.hint === undefined ? null : shown(error.hint),
    };
  return {
    code: 'INTERNAL',
    message: shown(error instanceof Error ? error.message : String(error)),
    nextStep: null,
  };
}

const MAX_CHARS = 2000;
