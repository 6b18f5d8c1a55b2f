import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { ProjectConfig } from '../config/definition.ts';
import { projectLabel, projectLabelOf, slug } from '../names.ts';
import type { LocalName, ProjectRecord, State } from './records.ts';

type Named = Pick<ProjectConfig, 'name' | 'writtenName' | 'root'>;

/**
 * The name of a project on this machine, where it is not the one in its file: a person chose it, or another project has
 * the one in the file. Two projects of one name would share their addresses.
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

/** The same project by its name on this machine. */
export function namedHere<Config extends Named & { readonly slug: string }>(
  state: State,
  config: Config,
): Config {
  const { name, writtenName = name } = config;
  const here = localNameIn(state, config)?.name ?? writtenName;
  return here === name ? config : { ...config, name: here, slug: slug(here), writtenName };
}

/** Why a project is not called what its file says, as a sentence without its full stop; undefined where it is. */
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

/** Whether nothing is left of a project but its record. */
export function isProjectGone({ root, services, checkouts }: ProjectRecord): boolean {
  return Object.keys(services).length === 0 && Object.keys(checkouts).length === 0 && !existsSync(root);
}

/** The project that has the name in the file, and has it before this one. */
function rivalFor(state: State, root: string, written: string): ProjectRecord | undefined {
  const all = holders(state, projectLabel(written));
  const own = all.find((each) => each.root === root);
  const others = all.filter((each) => each !== own);
  // Earlier versions gave it to both.
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

/** One that runs keeps its address before one that does not; then the older one does. */
function comesBefore(a: ProjectRecord, b: ProjectRecord): boolean {
  const [first, second] = [a, b].map(
    (each) => `${Object.keys(each.services).length > 0 ? 0 : 1} ${each.created_at} ${each.root}`,
  );
  return first! < second!;
}

/** `shop-work` for `work/shop`, where that tells the two apart, else `shop-2`. */
function freeName(
  state: State,
  { root, written, rival }: { root: string; written: string; rival: string },
): string {
  const base = slug(written);
  const part = tellingPart(root, rival);
  const telling = part?.startsWith(`${base}-`) === true ? part : `${base}-${part}`;
  if (part !== undefined && part !== base && othersCalled(state, telling, root).length === 0) return telling;
  for (let number = 2; ; number++) {
    if (othersCalled(state, `${base}-${number}`, root).length === 0) return `${base}-${number}`;
  }
}

/** Longer ones are hashes more often than words. */
const LONGEST_PART = 24;

/** The name of the directory in which two paths differ, from their ends. */
function tellingPart(path: string, other: string): string | undefined {
  const part = slug(basename(path));
  if (part === slug(basename(other)) && dirname(path) !== path)
    return tellingPart(dirname(path), dirname(other));
  return part === slug('') || part.length > LONGEST_PART ? undefined : part;
}
