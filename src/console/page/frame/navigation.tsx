import type { ComponentChildren } from 'preact';
import { Icon } from '../parts/icon.tsx';
import { hrefOf, route, SCREENS, type ScreenName } from '../state/route.ts';
import { servers, stream } from '../state/live.ts';

export const SCREEN_TITLES: Readonly<Record<ScreenName, string>> = {
  servers: 'Servers',
  calls: 'Calls',
  try: 'Try a tool',
  model: 'What the model sees',
  logs: 'Logs',
  hosts: 'Hosts',
  switchyard: 'Switchyard',
};

/** Used where the full title does not fit. */
const SHORT_TITLES: Partial<Record<ScreenName, string>> = { model: 'Model', try: 'Try', switchyard: 'Yard' };

export function Navigation(): ComponentChildren {
  const failing = [...servers.value.values()].filter(({ state }) =>
    ['failed', 'needs-login', 'unusable'].includes(state.kind),
  ).length;
  return (
    <nav class="nav" aria-label="Screens">
      <div class="nav-brand" aria-hidden="true">
        Switchboard
      </div>
      <ul>
        {SCREENS.map((screen) => (
          <li key={screen}>
            <a
              class="nav-link"
              href={hrefOf(screen)}
              aria-current={route.value.screen === screen ? 'page' : undefined}
            >
              <Icon name={screen} />
              <span class="nav-title">{SCREEN_TITLES[screen]}</span>
              <span class="nav-short" aria-hidden="true">
                {SHORT_TITLES[screen] ?? SCREEN_TITLES[screen]}
              </span>
              {screen === 'servers' && failing > 0 ? (
                <span class="nav-count" title="Servers that need attention">
                  {failing}
                </span>
              ) : null}
            </a>
          </li>
        ))}
      </ul>
      <div class="nav-foot">{stream.value === null ? '' : `Version ${stream.value.version}`}</div>
    </nav>
  );
}
