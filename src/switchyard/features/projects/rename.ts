import { SwitchboardError } from '../../../shared/errors.ts';
import { projectLabel, projectLabelOf, slug } from '../../records/names.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import { withProjectLock, type WaitOptions } from '../../records/state/project-lock.ts';
import { othersCalled, whyNamed } from '../../records/state/project-name.ts';
import { ensureProject } from '../../records/state/project-record.ts';
import type { State } from '../../records/state/records.ts';
import { runningAmong } from '../../runtime/processes/observe.ts';

export interface RenameOptions extends WaitOptions {
  /** Undefined: the name in `switchyard.toml`, or the closest free one. */
  readonly name: string | undefined;
}

export interface Renamed {
  readonly ok: true;
  readonly action: 'rename';
  readonly name: string;
  readonly was: string;
  readonly messages: readonly string[];
}

/** Renames the project on this machine. Running services keep their addresses until they are restarted. */
export async function renameProject(
  context: YardContext,
  { name, ...wait }: RenameOptions,
): Promise<Renamed> {
  const { registry, config } = context;
  if (name !== undefined) refuseName(name);
  await registry.repair();
  const rename = (): Promise<string> => registry.change((state) => change(state, context, name));
  const now = await withProjectLock(context, { ...wait, what: 'rename' }, rename);
  const reason = whyNamed(registry.read(), config) ?? `this project is called ${now}, as in switchyard.toml`;
  const old = runningAmong(
    recordedServices(context).filter(({ hostname }) => projectLabelOf(hostname) !== projectLabel(now)),
  ).map(
    ({ service, branch, url }) => `${service} of ${branch} keeps the address ${url} until it is restarted`,
  );
  return { ok: true, action: 'rename', name: now, was: config.name, messages: [reason, ...old] };
}

function change(state: State, { config }: YardContext, name: string | undefined): string {
  const { root, writtenName: written = config.name } = config;
  if (name !== undefined) refuseTaken(state, name, root);
  const project = ensureProject(state, config);
  delete project.local_name;
  if (name !== undefined && name !== written) project.local_name = { name, written, chosen: true };
  return ensureProject(state, config).name;
}

function refuseTaken(state: State, name: string, root: string): void {
  const [other] = othersCalled(state, name, root);
  if (other === undefined) return;
  throw new SwitchboardError(
    'NAME_TAKEN',
    `The name ${JSON.stringify(other.name)} is already used by ${other.root}.`,
    {
      hint: 'Choose another name, or rename that project first, with `switchyard rename` there.',
    },
  );
}

function refuseName(name: string): void {
  // The name is printed to terminals, set in variables and used on single lines.
  // eslint-disable-next-line no-control-regex
  const isLine = !/[\u0000-\u001f\u007f-\u009f]/.test(name) && name.trim() === name;
  if (isLine && /[a-z0-9]/i.test(name)) return;
  throw new SwitchboardError('NAME_INVALID', `${JSON.stringify(name)} is not a valid project name.`, {
    hint: `Use one line with at least one letter or digit, for example ${slug(name) === slug('') ? 'shop-2' : slug(name)}.`,
  });
}
