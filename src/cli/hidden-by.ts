import { matches } from '../app.ts';
import type { Pattern, ToolSettings } from '../config/index.ts';

/** The settings that keep a tool from clients. */
export type HidingSetting = 'expose.allow' | 'exposedTools' | 'expose.deny' | 'hiddenTools';

/** Which setting keeps a tool from clients, for one that is kept from them. */
export function hiddenBy(tool: string, { allow = [], deny }: ToolSettings): HidingSetting {
  const denying = deny.find((pattern) => matches(pattern, tool));
  if (denying !== undefined) return isIn(denying, 'hiddenTools') ? 'hiddenTools' : 'expose.deny';
  return allow.some((pattern) => isIn(pattern, 'exposedTools')) ? 'exposedTools' : 'expose.allow';
}

function isIn({ origin }: Pattern, list: 'hiddenTools' | 'exposedTools'): boolean {
  return new RegExp(`(?:^|\\.|\\])${list}\\[\\d+\\]$`).test(origin.key);
}
