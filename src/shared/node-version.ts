/** The oldest version of Node that all programs support. */
export const OLDEST_NODE = '20.3';

/** Whether this Node is the given release, such as `20.12`, or a newer one. */
export function isNodeAtLeast(release: string, version: string = process.versions.node): boolean {
  return version.localeCompare(release, 'en', { numeric: true }) >= 0;
}
