/** The settings of a server besides how it is reached, in the keys of our own configuration. */
export interface ConvertedSettings {
  readonly description?: string;
  readonly disabled?: true;
  readonly exposedTools?: readonly string[];
  readonly hiddenTools?: readonly string[];
  readonly timeouts?: { readonly childSpawnMs?: number; readonly rpcMs?: number };
}

type Table = Readonly<Record<string, unknown>>;

/** Reads them from an entry of any host; `understood` contains the keys that need no further mention. */
export function convertSettings(
  value: Table,
  timeoutUnit: 'milliseconds' | 'seconds',
): { settings: ConvertedSettings; understood: ReadonlySet<string> } {
  const { description } = value;
  const shown = listOf(value, 'includeTools', 'enabled_tools', 'tools');
  const hidden = listOf(value, 'excludeTools', 'disabled_tools', 'disabledTools');
  const timeouts = {
    ...milliseconds('childSpawnMs', seconds(value.startup_timeout_sec) ?? value.startup_timeout_ms),
    ...milliseconds(
      'rpcMs',
      seconds(value.tool_timeout_sec) ?? (timeoutUnit === 'seconds' ? seconds(value.timeout) : value.timeout),
    ),
  };
  return {
    settings: {
      ...(typeof description === 'string' && description !== '' ? { description } : {}),
      ...(value.disabled === true || value.enabled === false ? { disabled: true } : {}),
      ...(shown === undefined || shown.includes('*') ? {} : { exposedTools: shown }),
      ...(hidden === undefined ? {} : { hiddenTools: hidden }),
      ...(Object.keys(timeouts).length === 0 ? {} : { timeouts }),
    },
    // Codex uses this key for settings of single tools, Copilot CLI for the list of usable tools.
    understood: Array.isArray(value.tools) ? new Set([...UNDERSTOOD, 'tools']) : UNDERSTOOD,
  };
}

const UNDERSTOOD: ReadonlySet<string> = new Set([
  ...['description', 'disabled', 'enabled', 'timeout', 'name', 'source'],
  ...['includeTools', 'enabled_tools', 'excludeTools', 'disabled_tools', 'disabledTools'],
  ...['startup_timeout_sec', 'startup_timeout_ms', 'tool_timeout_sec'],
]);

function listOf(value: Table, ...keys: readonly string[]): string[] | undefined {
  for (const key of keys) {
    const list = value[key];
    if (Array.isArray(list) && list.length > 0 && list.every((each) => typeof each === 'string')) return list;
  }
  return undefined;
}

function seconds(value: unknown): number | undefined {
  return typeof value === 'number' ? value * 1000 : undefined;
}

function milliseconds(key: string, value: unknown): object {
  return typeof value === 'number' && value >= 1 && value <= LONGEST_MS ? { [key]: Math.round(value) } : {};
}

/** The longest time that our configuration accepts. */
const LONGEST_MS = 2_147_483_647;
