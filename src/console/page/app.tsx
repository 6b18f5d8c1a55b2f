import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { ConnectionStatus } from './frame/connection-status.tsx';
import { GatewaySelect } from './frame/gateway-select.tsx';
import { Help } from './frame/help.tsx';
import { MessageList } from './frame/message-list.tsx';
import { Navigation, SCREEN_TITLES } from './frame/navigation.tsx';
import { Button } from './parts/button.tsx';
import { EmptyState, Loading, ProblemNotice } from './parts/notice.tsx';
import { CallsScreen } from './screens/calls/calls-screen.tsx';
import { HostsScreen } from './screens/hosts/hosts-screen.tsx';
import { LogsScreen } from './screens/logs/logs-screen.tsx';
import { ModelScreen } from './screens/model/model-screen.tsx';
import { ServersScreen } from './screens/servers/servers-screen.tsx';
import { SwitchyardScreen } from './screens/switchyard/switchyard-screen.tsx';
import { TryScreen } from './screens/try/try-screen.tsx';
import { helpOpen, nextTheme } from './shortcuts.ts';
import { connectionState, retryNow } from './state/connect.ts';
import { gateways, readOnly, stream } from './state/live.ts';
import { route, type ScreenName } from './state/route.ts';
import { theme } from './state/settings.ts';

const SCREEN_BODIES: Readonly<Record<ScreenName, () => ComponentChildren>> = {
  servers: ServersScreen,
  calls: CallsScreen,
  try: TryScreen,
  model: ModelScreen,
  logs: LogsScreen,
  hosts: HostsScreen,
  switchyard: SwitchyardScreen,
};

/** Screens about gateways; the others work without one. */
const NEED_A_GATEWAY: readonly ScreenName[] = ['servers', 'calls', 'try', 'model', 'logs'];
/** Screens that can show several gateways at once. */
const CHOOSE_A_GATEWAY: readonly ScreenName[] = ['servers', 'calls', 'try', 'logs'];

export function ConsoleApp(): ComponentChildren {
  const { screen } = route.value;
  const title = SCREEN_TITLES[screen];
  useEffect(() => {
    document.title = `${title} · Switchboard console`;
  }, [title]);
  return (
    <div class="app">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <h1 class="top-title">{title}</h1>
        {readOnly.value ? <span class="badge">Read-only</span> : null}
        <span class="grow" />
        {CHOOSE_A_GATEWAY.includes(screen) ? <GatewaySelect /> : null}
        <ConnectionStatus />
        <Button kind="quiet" icon="theme" compact onClick={nextTheme}>
          {`Theme: ${theme.value}`}
        </Button>
        <Button kind="quiet" icon="help" compact onClick={() => void (helpOpen.value = true)}>
          Help and shortcuts
        </Button>
      </header>
      <Navigation />
      <main class="main" id="main" tabIndex={-1}>
        {connectionState.value.kind === 'unauthorized' ? <LoggedOut /> : null}
        <Content screen={screen} />
      </main>
      <MessageList />
      {helpOpen.value ? <Help /> : null}
    </div>
  );
}

function Content({ screen }: { screen: ScreenName }): ComponentChildren {
  if (stream.value === null)
    return connectionState.value.kind === 'unauthorized' ? null : <Loading what="the console" />;
  if (NEED_A_GATEWAY.includes(screen) && gateways.value.size === 0) return <NoGateway />;
  const Body = SCREEN_BODIES[screen];
  return <Body key={screen} />;
}

/**
 * Shown above the previous screen, which stays as it is, half-written forms included, and continues after the login.
 */
const LoggedOut = (): ComponentChildren => (
  <ProblemNotice
    problem={{
      code: 'E_CONSOLE_LOGGED_OUT',
      message: 'This page is not logged in',
      nextStep:
        'Each link to the console works once, and the login ends when the console exits. ' +
        'Run `switchboard console`, or press Enter in its terminal, and open the new link in this browser.',
    }}
  >
    <Button icon="reload" onClick={retryNow}>
      Try again
    </Button>
  </ProblemNotice>
);

const NoGateway = (): ComponentChildren => (
  <EmptyState title="No gateway is running">
    <p>Your gateways appear here as soon as they start.</p>
    <p>
      Start your host, if it loads Switchboard (see <a href="#/hosts">Hosts</a>), or run{' '}
      <code>switchboard --http 3006</code> in a terminal.
    </p>
  </EmptyState>
);
