import type { ComponentChildren } from 'preact';
import { Dialog } from '../parts/dialog.tsx';
import { Toggle } from '../parts/fields.tsx';
import { helpOpen } from '../shortcuts.ts';
import { SCREENS } from '../state/route.ts';
import { shortcutKeys } from '../state/settings.ts';
import { SCREEN_TITLES } from './navigation.tsx';

const KEYS: readonly (readonly [string, string])[] = [
  ...SCREENS.map((screen, index) => [String(index + 1), SCREEN_TITLES[screen]] as const),
  ['/', 'Search on this screen'],
  ['l', 'Go to the list'],
  ['↑ ↓ or k j', 'Move in the list'],
  ['PgUp PgDn Home End', 'Move further in the list'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close the detail or dialog, clear the search'],
  ['← →', 'Switch tabs; expand and collapse JSON'],
  ['Ctrl + Enter', `Run the tool on “${SCREEN_TITLES.try}”`],
  ['d', 'Switch between system, light and dark theme'],
  ['?', 'Show this help'],
];

export const Help = (): ComponentChildren => (
  <Dialog title="Help and shortcuts" onClose={() => void (helpOpen.value = false)}>
    <dl class="keys">
      {KEYS.map(([keys, what]) => (
        <div key={keys}>
          <dt>
            {keys
              .split(' ')
              .map((key) => (/^(?:or|\+)$/.test(key) ? ` ${key} ` : <kbd key={key}>{key}</kbd>))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
    <Toggle
      label="Use single-key shortcuts"
      checked={shortcutKeys.value === 'on'}
      onChange={(on) => void (shortcutKeys.value = on ? 'on' : 'off')}
    />
    <p class="muted">
      The arguments and results of calls are recorded only while a console is open, in the memory of the
      gateway. Secrets that the gateway knows are masked before they reach this page.
    </p>
  </Dialog>
);
