import { isObject } from '../shared/is-object.ts';
import { MANAGEMENT_TOOLS } from './defaults.ts';
import type { ProgramVariant } from './program-variant.ts';
import { resolveManagement } from './management.ts';
import { withPathPrefix, type ConfigProblem } from './problem.ts';

/**
 * Problems of a configuration that the schema cannot express. Ignores data that does not have the right form, which the
 * schema reports.
 */
export function brokenConfigRules(config: unknown, variant: ProgramVariant): ConfigProblem[] {
  return [
    ...offerProblems(config, ['offer']),
    ...brokenIn(config, ['suites', ANY], brokenServerRules),
    ...brokenIn(config, ['tools', ANY, 'subtools'], (value) =>
      isObject(value) && Object.keys(value).length === 0 ? [problem('must name at least one server')] : [],
    ),
    ...brokenIn(config, ['tools', ANY, 'subtools', ANY, 'tools'], (value) =>
      Array.isArray(value) && value.length === 0 ? [problem('must name at least one tool')] : [],
    ),
    ...takenToolNames(config, variant),
  ];
}

/** The same for the settings of one server. */
export function brokenServerRules(server: unknown): ConfigProblem[] {
  return [
    ...offerProblems(server, ['offer']),
    ...brokenIn(server, ['tools', ANY, 'presets', ANY], notJson),
    ...brokenIn(server, ['url'], unusableAddress),
    ...brokenIn(server, ['headers'], repeatedHeaders),
  ];
}

const ANY = Symbol('any key');

/** Compound tools with the name of a tool that manages servers. */
function takenToolNames(config: unknown, variant: ProgramVariant): ConfigProblem[] {
  if (!isObject(config) || !managesServers(config.management, variant)) return [];
  const message = 'is reserved for "management"; choose another name for this tool';
  return MANAGEMENT_TOOLS.flatMap((name) => brokenIn(config, ['tools', name], () => [problem(message)]));
}

function managesServers(given: unknown, variant: ProgramVariant): boolean {
  if (given !== undefined && typeof given !== 'boolean' && !isObject(given)) return false;
  return resolveManagement(given, variant.defaults.management).enabled;
}

function offerProblems(value: unknown, path: readonly string[]): ConfigProblem[] {
  return brokenIn(value, path, (offer) => {
    if (!Array.isArray(offer)) return [];
    if (offer.length === 0) return [problem('must name at least one of "tools", "resources", "prompts"')];
    return offer.flatMap((each, index) =>
      offer.indexOf(each) < index ? [problem('is already in the list', index)] : [],
    );
  });
}

/** An address with a reference is checked when the reference has been filled in. */
function unusableAddress(url: unknown): ConfigProblem[] {
  const usable = typeof url !== 'string' || url.includes('${') || !/^https?:/i.test(url) || URL.canParse(url);
  return usable ? [] : [problem('is not a valid URL, such as https://example.com/mcp')];
}

function repeatedHeaders(headers: unknown): ConfigProblem[] {
  if (!isObject(headers)) return [];
  const names = Object.keys(headers);
  const same = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();
  return names
    .filter((name, index) => names.slice(0, index).some((before) => same(before, name)))
    .map((name) => ({ path: [name], message: 'duplicates an earlier header' }));
}

/** Values that JSON cannot represent: only a module can contain them, or a number such as 1e999. */
function notJson(value: unknown): ConfigProblem[] {
  if (Array.isArray(value)) return value.flatMap((member, index) => withPathPrefix([index], notJson(member)));
  if (isObject(value))
    return Object.entries(value).flatMap(([key, member]) => withPathPrefix([key], notJson(member)));
  const sayable = value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value);
  return sayable ? [] : [problem('must be a JSON value')];
}

/** Applies a rule to every value at a path; ANY matches every key. */
function brokenIn(
  value: unknown,
  path: readonly (string | typeof ANY)[],
  rule: (value: unknown) => ConfigProblem[],
  depth = 0,
): ConfigProblem[] {
  const step = path[depth];
  if (step === undefined) return rule(value);
  // Nearly every server has nothing that a rule applies to.
  if (!isObject(value) || (step !== ANY && !Object.hasOwn(value, step))) return [];
  const keys = step === ANY ? Object.keys(value) : [step];
  return keys.flatMap((key) => withPathPrefix([key], brokenIn(value[key], path, rule, depth + 1)));
}

function problem(message: string, ...path: number[]): ConfigProblem {
  return { path, message };
}
