import { commandText, redactCommand, redactUrl, type LoadedConfig } from '../../config/index.ts';
import { isObject } from '../../shared/is-object.ts';
import { parseJsonc } from '../../shared/jsonc.ts';
import { readRegularFile } from '../../shared/regular-file.ts';

/**
 * A disabled server as a console shows it. Loading a configuration skips disabled servers, so this is read separately.
 */
export interface DisabledServer {
  readonly name: string;
  /** The file that contains its entry; null if none does. */
  readonly file: string | null;
  /** Its command line or address, without secrets. */
  readonly command: string;
}

/** The disabled servers of a configuration. Each of its files is read once. */
export function disabledServers(config: LoadedConfig): readonly DisabledServer[] {
  let found = FOUND.get(config);
  if (found === undefined) {
    const contents = new Map<string, unknown>();
    const contentOf = (file: string): unknown => {
      if (!contents.has(file)) contents.set(file, contentIn(file));
      return contents.get(file);
    };
    found = config.disabled.map((name) => {
      const { file = '', path = [] } = config.disabledAt?.get(name) ?? {};
      const entry = path.reduce<unknown>(
        (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
        file === '' ? undefined : contentOf(file),
      );
      return { name, file: file === '' ? null : file, command: commandOf(entry) };
    });
    FOUND.set(config, found);
  }
  return found;
}

const FOUND = new WeakMap<LoadedConfig, readonly DisabledServer[]>();

/** Undefined if the file is a program, or has become unreadable. */
function contentIn(file: string): unknown {
  try {
    return parseJsonc(readRegularFile(file).toString('utf8'));
  } catch {
    return undefined;
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
