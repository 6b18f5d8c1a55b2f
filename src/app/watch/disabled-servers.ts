import { commandText, redactCommand, redactUrl, type LoadedConfig } from '../../config/index.ts';
import { isObject } from '../../shared/is-object.ts';
import { parseJsonc } from '../../shared/jsonc.ts';
import { readRegularFile } from '../../shared/regular-file.ts';

/** What is known of a server that is disabled: a configuration is read without looking at it. */
export interface DisabledServer {
  readonly name: string;
  /** The file that has its entry; null where it is another program's. */
  readonly file: string | null;
  /** Its command line or address, without secrets. */
  readonly command: string;
}

/** The disabled servers of a configuration. Its files are read once. */
export function disabledServers(config: LoadedConfig): readonly DisabledServer[] {
  let found = FOUND.get(config);
  if (found === undefined) {
    const files = config.files.map(({ path }) => ({ path, entries: entriesOf(path) }));
    found = config.disabled.map((name) => {
      const own = files.find(({ entries }) => Object.hasOwn(entries, name));
      return { name, file: own?.path ?? null, command: commandOf(own?.entries[name]) };
    });
    FOUND.set(config, found);
  }
  return found;
}

const FOUND = new WeakMap<LoadedConfig, readonly DisabledServer[]>();

/** None where the file is a program, or has changed to something else. */
function entriesOf(file: string): Readonly<Record<string, unknown>> {
  try {
    const config: unknown = parseJsonc(readRegularFile(file).toString('utf8'));
    return isObject(config) && isObject(config.mcpServers) ? config.mcpServers : {};
  } catch {
    return {};
  }
}

function commandOf(entry: unknown): string {
  if (!isObject(entry)) return '';
  const { command, url, args } = entry;
  if (typeof url === 'string') return redactUrl(url);
  if (typeof command !== 'string') return '';
  const words = Array.isArray(args) ? args.map(String) : [];
  return commandText(redactCommand({ written: { command, args: words, cwd: '' } }));
}
