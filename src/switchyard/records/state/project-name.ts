import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ProjectConfig } from '../config/definition.ts';
import { projectLabel, projectLabelOf, slug } from '../names.ts';
import type { LocalName, ProjectRecord, State } from './records.ts';

type Named = Pick<ProjectConfig, 'name' | 'writtenName' | 'root'>;

/**
 * The name of a project on this machine, if it differs from the one in its file: the user chose it, or another project
 * has the name in the file. Two projects with the same name would share their addresses.
 */
export function localNameIn(
  state: State,
  { name, writtenName: written = name, root }: Named,
): LocalName | undefined {
  const known = state.projects[root]?.local_name;
  if (known !== undefined && (known.chosen || known.written === written)) return known;
  const rival = rivalFor(state, root, written);
  return rival && { name: freeName(state, { root, written, rival: rival.root }), written, chosen: false };
}

/** The same config with the name on this machine. */
export function namedHere<Config extends Named & { readonly slug: string }>(
  state: State,
  config: Config,
): Config {
  const { name, writtenName = name } = config;
  const here = localNameIn(state, config)?.name ?? writtenName;
  return here === name ? config : { ...config, name: here, slug: slug(here), writtenName };
}

/** Why a project does not have the name in its file, as a sentence without full stop; undefined if it does. */
export function whyNamed(state: State, config: Named): string | undefined {
  const local = localNameIn(state, config);
  if (local === undefined) return undefined;
  const { name, written, chosen } = local;
  if (chosen) return `this project was renamed to ${name} on this machine; switchyard.toml says ${written}`;
  const [rival] = othersCalled(state, written, config.root);
  const who = rival === undefined ? 'another project used' : `${rival.root} uses`;
  return `this project is called ${name} on this machine, because ${who} the name ${written}`;
}

/** Other projects that have a name, or whose services still run under it. */
export function othersCalled(state: State, name: string, root: string): readonly ProjectRecord[] {
  return holders(state, projectLabel(name)).filter((each) => each.root !== root);
}

/** Whether only the record of a project is left. */
export function isProjectGone({ root, services, checkouts }: ProjectRecord): boolean {
  return Object.keys(services).length === 0 && Object.keys(checkouts).length === 0 && !existsSync(root);
}

/** The project that has the name in the file, with precedence over this one. */
function rivalFor(state: State, root: string, written: string): ProjectRecord | undefined {
  const all = holders(state, projectLabel(written));
  const own = all.find((each) => each.root === root);
  const others = all.filter((each) => each !== own);
  // Earlier versions gave the same name to both.
  return own === undefined ? others[0] : others.find((other) => comesBefore(other, own));
}

function holders(state: State, label: string): readonly ProjectRecord[] {
  return Object.values(state.projects).filter(
    (each) => labelsOf(each).includes(label) && !isProjectGone(each),
  );
}

function labelsOf({ name, services }: ProjectRecord): readonly (string | undefined)[] {
  return [projectLabel(name), ...Object.values(services).map(({ hostname }) => projectLabelOf(hostname))];
}

/** Projects with running services take precedence, then older ones. */
function comesBefore(a: ProjectRecord, b: ProjectRecord): boolean {
  const order = ({ services, created_at, root }: ProjectRecord): string =>
    `${Object.keys(services).length > 0 ? 0 : 1} ${created_at} ${root}`;
  return order(a) < order(b);
}

/** `shop-work` for `work/shop` if that distinguishes the two, otherwise `shop-2`. */
function freeName(
  state: State,
  { root, written, rival }: { root: string; written: string; rival: string },
): string {
  const base = slug(written);
  const part = tellingPart(root, rival);
  const candidate = part?.startsWith(`${base}-`) === true ? part : `${base}-${part}`;
  if (part !== undefined && part !== base && othersCalled(state, candidate, root).length === 0)
    return candidate;
  for (let number = 2; ; number++) {
    if (othersCalled(state, `${base}-${number}`, root).length === 0) return `${base}-${number}`;
  }
}

/** Longer parts are more often hashes than words. */
const LONGEST_PART = 24;

/** The name of the last directory in which two paths differ. */
function tellingPart(path: string, other: string): string | undefined {
  const part = slug(basename(path));
  if (part === slug(basename(other)) && dirname(path) !== path)
    return tellingPart(dirname(path), dirname(other));
  return part === slug('') || part.length > LONGEST_PART ? undefined : part;
}
