import { sha256 } from '../../shared/sha256.ts';

/** Makes a name safe for paths and host names: letters, digits and single dashes. */
export function slug(name: string): string {
  const cut = name
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return cut === '' ? 'default' : cut;
}

/** The key of a service, and of its checkout, in the records of its project. */
export function serviceKey(branch: string, service: string): string {
  return `${slug(branch)}::${slug(service)}`;
}

/** The host name of a service of a branch, behind the proxy. */
export function hostName(service: string, branch: string, project: string, tld: string): string {
  return [label(slug(service)), label(slug(branch)), projectLabel(project), tld].join('.').toLowerCase();
}

/** The part of a host name that identifies the project. */
export function projectLabel(project: string): string {
  return label(slug(project));
}

/** The same part of a host name created by `hostName`. */
export function projectLabelOf(host: string): string | undefined {
  return host.split('.')[2];
}

export function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** The directory of a project below logs/ and worktrees/. Projects of the same name do not share it. */
export function projectDirectory(name: string, root: string): string {
  return `${slug(name)}-${sha256(root).slice(0, 8)}`;
}

/** Distinguishes a draft from those that other processes make of the same file. Not a secret. */
export function draftMark(): string {
  return Math.random().toString(16).slice(2, 10).padEnd(8, '0');
}

/** DNS allows 63 octets. Only host names are truncated: keys contain the whole slug, and so do nearly all paths. */
function label(text: string): string {
  return text.length <= 63 ? text : `${text.slice(0, 54)}-${sha256(text).slice(0, 8)}`;
}
