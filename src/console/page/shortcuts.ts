/** Keys that work on every screen, except while the user types into a field. */
import { signal } from '@preact/signals';
import { goTo, hrefOf, SCREENS } from './state/route.ts';
import { shortcutKeys, theme, type ThemeChoice } from './state/settings.ts';

export const helpOpen = signal(false);

const THEMES: readonly ThemeChoice[] = ['system', 'light', 'dark'];
export const nextTheme = (): void =>
  void (theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] ?? 'system');

export function listenForShortcuts(): void {
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (shortcutKeys.value === 'off' || isTyping(event.target)) return;
    if (document.querySelector('dialog[open]') !== null) return;
    const screen = SCREENS[Number(event.key) - 1];
    if (screen !== undefined) goTo(hrefOf(screen));
    else if (event.key === '?') helpOpen.value = true;
    else if (event.key === '/') document.querySelector<HTMLElement>('[data-search]')?.focus();
    else if (event.key === 'd') nextTheme();
    else if (event.key === 'l') document.querySelector<HTMLElement>('[role=grid]')?.focus();
    else return;
    event.preventDefault();
  });
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.matches('input:not([type=checkbox],[type=radio]), textarea, select');
