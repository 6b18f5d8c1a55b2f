import { readFileSync } from 'node:fs';
import { ownSchema } from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';

/** The JSON Schema of an entry of `mcpServers`, with descriptions: a part of the schema that editors use. */
export function entrySchema(): Readonly<Record<string, unknown>> {
  const file = ownSchema();
  const schema: unknown = file === undefined ? undefined : JSON.parse(readFileSync(file, 'utf8'));
  const properties = isObject(schema) && isObject(schema.properties) ? schema.properties : {};
  const servers = isObject(properties.mcpServers) ? properties.mcpServers.additionalProperties : undefined;
  if (isObject(servers)) return servers;
  throw new SwitchboardError('CONFIG_UNREADABLE', 'The configuration schema is missing.', {
    hint: 'Reinstall Switchboard.',
  });
}
