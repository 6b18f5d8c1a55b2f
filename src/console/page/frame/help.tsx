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
  ['↑ ↓ or k j', 'Move in a list'],
  ['PgUp PgDn Home End', 'Move in a list, further'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close the detail or dialog, clear the search'],
  ['← →', 'Change the tab, open and close parts of JSON'],
  ['Ctrl + Enter', 'Run the tool that is being tried'],
  ['d', 'Change between system, light and dark theme'],
  ['?', 'This help'],
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
      label="Single keys are shortcuts"
      checked={shortcutKeys.value === 'on'}
      onChange={(on) => void (shortcutKeys.value = on ? 'on' : 'off')}
    />
    <p class="muted">
      What a call was given and what it returned is kept in the memory of the gateway only while a console is
      open. Secrets are replaced before they get here.
    </p>
  </Dialog>
);
