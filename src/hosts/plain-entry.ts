import { isObject } from '../shared/is-object.ts';

/**
 * An entry of any host in the form that most of them share: `command` is a text, `args` a list and `env` a table, all
 * at the top level. opencode has the whole command line in `command` and calls the variables `environment`; Cline has
 * `transport` for how the server is reached; Zed once had an object in `command`. Anything else stays as it is.
 */
export function plainEntry(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { transport, transportType, environment, ...rest } = entry;
  const flat: Table = {
    ...(transport === undefined || isObject(transport) ? {} : { transport }),
    ...(typeof transportType === 'string' ? { type: transportType } : {}),
    ...(environment === undefined ? {} : { env: environment }),
    ...rest,
    ...(isObject(transport) ? transport : {}),
  };
  const { command, args } = flat;
  if (Array.isArray(command)) {
    const [program, ...words] = command as unknown[];
    return {
      ...flat,
      command: program,
      args: [...words, ...(Array.isArray(args) ? (args as unknown[]) : [])],
    };
  }
  if (isObject(command) && typeof command.path === 'string') {
    const { path, ...inner } = command;
    return { ...flat, ...inner, command: path };
  }
  return flat;
}

type Table = Readonly<Record<string, unknown>>;
