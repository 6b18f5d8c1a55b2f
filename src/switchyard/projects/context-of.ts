import { existsSync } from 'node:fs';
import { SwitchboardError } from '../../shared/errors.ts';
import { readConfig } from '../config/read.ts';
import { recordedConfig } from '../config/recorded.ts';
import type { YardContext } from '../context.ts';
import { namedHere } from '../state/project-name.ts';
import type { ProjectRecord } from '../state/records.ts';
import type { Registry } from '../state/registry.ts';

/** The context of a recorded project, as if a command was called at its root. */
export function contextOf(record: ProjectRecord, registry: Registry, env: NodeJS.ProcessEnv): YardContext {
  const base = { home: registry.home, registry, cwd: record.root, env };
  // A missing directory is no problem to report: the caller named this project in spite of it.
  if (!existsSync(record.root)) return { ...base, config: recordedConfig(record) };
  try {
    return { ...base, config: namedHere(registry.read(), readConfig(record.config)) };
  } catch (problem) {
    if (!(problem instanceof SwitchboardError)) throw problem;
    return { ...base, config: recordedConfig(record), problem };
  }
}
