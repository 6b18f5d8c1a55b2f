import type { LoadedConfig } from '../../../config/index.ts';
import { literalSecrets } from '../../../hosts/index.ts';
import { parseJsonc } from '../../../shared/jsonc.ts';
import { printableLine } from '../../../shared/printable.ts';
import { readRegularFile } from '../../../shared/regular-file.ts';
import { isEntry } from '../host/import/import-plan.ts';

/** A literal secret in a file that is shared with others. */
export interface ProjectSecret {
  readonly file: string;
  readonly server: string;
  /** Where in its entry, for example `env.API_KEY`. */
  readonly where: string;
  /** What a variable for it could be called. */
  readonly variable: string;
}

/** The secrets in the files of the project: its configuration, and what was discovered in it. */
export function projectSecrets({
  files,
  servers,
}: Pick<LoadedConfig, 'files' | 'servers'>): readonly ProjectSecret[] {
  const origins = servers.map(({ origin }) => ({ path: origin.file, scope: origin.scope }));
  const shared = [...files, ...origins].filter(({ scope }) => scope === 'project');
  return [...new Set(shared.map(({ path }) => path))].flatMap((file) =>
    Object.entries(serversIn(file)).flatMap(([server, entry]) => secretsOf(file, server, entry)),
  );
}

/** The configuration with a warning for each of them. */
export function warnOfSecrets(config: LoadedConfig, program: string): LoadedConfig {
  const warnings = projectSecrets(config).map((secret) => ({
    file: secret.file,
    key: `mcpServers.${secret.server}.${secret.where}`,
    message: adviceFor(secret, program),
    level: 'warn' as const,
    server: secret.server,
  }));
  return { ...config, warnings: [...config.warnings, ...warnings] };
}

/** The secrets of one entry. */
export function secretsOf(file: string, server: string, entry: unknown): ProjectSecret[] {
  if (!isEntry(entry)) return [];
  return literalSecrets(entry, server).map((secret) => ({ file, server, ...secret }));
}

/** Which secret it is, why that matters, and what to do. */
export function secretWarning(secret: ProjectSecret, program: string): string {
  const { file, server, where } = secret;
  return printableLine(`${where} of ${JSON.stringify(server)} in ${file} ${adviceFor(secret, program)}`);
}

function adviceFor({ server, variable }: ProjectSecret, program: string): string {
  return (
    'looks like a secret, and everyone who has this project can read it. ' +
    `Replace it with "\${${variable}}" and set ${variable} in your environment, or keep the server in your user file: ` +
    `${program} remove ${server} --project, then ${program} add ${server} --user …`
  );
}

/** Empty for a program or an invalid file, which is reported elsewhere. */
function serversIn(file: string): Readonly<Record<string, unknown>> {
  if (!/\.jsonc?$/.test(file)) return {};
  try {
    const { mcpServers } = parseJsonc(readRegularFile(file).toString('utf8')) as {
      mcpServers?: Record<string, unknown>;
    };
    return mcpServers ?? {};
  } catch {
    return {};
  }
}
