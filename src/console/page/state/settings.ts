/** The user's settings in this browser. */
import { effect, signal, type Signal } from '@preact/signals';

export type ThemeChoice = 'system' | 'light' | 'dark';

export const theme = remembered<ThemeChoice>('theme', 'system', ['system', 'light', 'dark']);
/** Whether single keys are shortcuts. */
export const shortcutKeys = remembered<'on' | 'off'>('shortcut-keys', 'on', ['on', 'off']);

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

function remembered<T extends string>(name: string, usual: T, allowed: readonly T[]): Signal<T> {
  const key = `switchboard-${name}`;
  const kept = signal(allowed.find((each) => each === read(key)) ?? usual);
  effect(() => write(key, kept.value));
  return kept;
}

// A browser may not allow storing anything.
function read(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // The setting lasts until the page is closed.
  }
}
