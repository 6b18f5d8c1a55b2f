/** The address of the current view, in the fragment: `#/servers/<gateway>/<name>?tab=log`. */
import { computed, signal } from '@preact/signals';

export const SCREENS = ['servers', 'calls', 'try', 'model', 'logs', 'hosts', 'switchyard'] as const;
export type ScreenName = (typeof SCREENS)[number];

export interface Route {
  readonly screen: ScreenName;
  /** The decoded segments after the screen. */
  readonly path: readonly string[];
  readonly query: Readonly<Record<string, string>>;
}

const fragment = signal(location.hash);
addEventListener('hashchange', () => (fragment.value = location.hash));

export const route = computed(() => readRoute(fragment.value));

export function readRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  const [screen = '', ...rest] = path.split('/').map(decoded);
  return {
    screen: SCREENS.find((each) => each === screen) ?? 'servers',
    path: rest.filter((part) => part !== ''),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

export function hrefOf(
  screen: ScreenName,
  path: readonly string[] = [],
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '');
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${[screen, ...path].map(encodeURIComponent).join('/')}${search}`;
}

/** Navigates to an address; `replace` adds no history entry, for changes while the user types. */
export function goTo(href: string, { replace = false } = {}): void {
  if (href === location.hash) return;
  if (replace) {
    history.replaceState(null, '', href);
    fragment.value = href;
  } else location.hash = href;
}

/** Changes parts of the current query. */
export function changeQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { screen, path, query } = route.peek();
  goTo(hrefOf(screen, path, { ...query, ...changes }), { replace: true });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
