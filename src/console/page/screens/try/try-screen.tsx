import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ToolInfo } from '../../../protocol.ts';
import { SearchField, Select } from '../../parts/fields.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { EmptyState } from '../../parts/notice.tsx';
import { gatewayTitle, isChosen, severalGateways } from '../../state/gateway-choice.ts';
import { keyIn, serverKey, serverList, servers } from '../../state/live.ts';
import { useLoaded } from '../../state/load.ts';
import { changeQuery, goTo, hrefOf, route } from '../../state/route.ts';
import { readOnly } from '../../state/live.ts';
import { ToolTrial } from './tool-trial.tsx';

export function TryScreen(): ComponentChildren {
  const [gateway = '', server = '', tool = ''] = route.value.path;
  const usable = serverList.value.filter(
    ({ gateway: of, state }) => isChosen(of) && state.kind !== 'disabled' && state.kind !== 'unusable',
  );
  if (usable.length === 0)
    return (
      <EmptyState title="No servers">
        <p>
          <a href={hrefOf('servers')}>Add or enable a server</a> to try its tools here.
        </p>
      </EmptyState>
    );
  const known = servers.value.get(keyIn(gateway, server));
  return (
    <div class={`try ${tool === '' ? '' : 'try-tool'}`}>
      <aside class="try-tools" aria-label="Tools">
        <div class="try-choose">
          <Select
            label="Server"
            value={known === undefined ? '' : serverKey(known)}
            options={[
              { value: '', title: 'Choose a server…' },
              ...usable.map((each) => ({
                value: serverKey(each),
                title: severalGateways.value ? `${each.name} (${gatewayTitle(each.gateway)})` : each.name,
              })),
            ]}
            onChange={(key) => {
              const chosen = servers.value.get(key);
              goTo(chosen === undefined ? hrefOf('try') : hrefOf('try', [chosen.gateway, chosen.name]));
            }}
          />
        </div>
        {known === undefined ? (
          <p class="muted pad">
            The server’s tools appear here. If the server is not running, it is started.
          </p>
        ) : (
          <ToolList key={serverKey(known)} gateway={gateway} server={server} tool={tool} />
        )}
      </aside>
      {known !== undefined && tool !== '' ? (
        <ChosenTool
          key={JSON.stringify([gateway, server, tool])}
          gateway={gateway}
          server={server}
          tool={tool}
        />
      ) : (
        <EmptyState title="Try a tool">
          <p>
            Choose a server and a tool. The page builds a form from the tool’s schema, and shows the result as
            a host gets it.
          </p>
          {readOnly.value ? <p>This console is read-only: you can see tools, but not run them.</p> : null}
        </EmptyState>
      )}
    </div>
  );
}

interface ServerName {
  readonly gateway: string;
  readonly server: string;
}

function ToolList({ gateway, server, tool }: ServerName & { readonly tool: string }): ComponentChildren {
  const [tools, load] = useLoaded('tools.list', { gateway, server });
  const find = (route.value.query.find ?? '').toLowerCase();
  return (
    <LoadedPart loaded={tools} what={`the tools of ${server}`} onRetry={load}>
      {({ tools: all }) => {
        const shown = all.filter(({ name, description }) =>
          `${name} ${description ?? ''}`.toLowerCase().includes(find),
        );
        return (
          <>
            <div class="try-choose">
              <SearchField
                label={`Find in ${all.length} tools`}
                value={route.value.query.find ?? ''}
                onInput={(text) => changeQuery({ find: text })}
              />
            </div>
            <ul class="try-list">
              {shown.map((each) => (
                <ToolLink
                  key={each.name}
                  href={hrefOf('try', [gateway, server, each.name], { find })}
                  tool={each}
                  current={each.name === tool}
                />
              ))}
              {shown.length === 0 ? <li class="muted pad">No matching tools.</li> : null}
            </ul>
          </>
        );
      }}
    </LoadedPart>
  );
}

const ToolLink = ({
  href,
  tool,
  current,
}: {
  href: string;
  tool: ToolInfo;
  current: boolean;
}): ComponentChildren => (
  <li>
    <a class="try-link" href={href} aria-current={current ? 'true' : undefined}>
      <code>{tool.name}</code>
      <span class="sub">{tool.title ?? tool.description ?? ''}</span>
    </a>
  </li>
);

function ChosenTool({ gateway, server, tool }: ServerName & { readonly tool: string }): ComponentChildren {
  const [tools, load] = useLoaded('tools.list', { gateway, server });
  useEffect(() => {
    document.querySelector('.try-link[aria-current]')?.scrollIntoView({ block: 'nearest' });
  }, []);
  return (
    <div class="try-body" tabIndex={0} role="group" aria-label={`Tool ${tool}`}>
      <LoadedPart loaded={tools} what={tool} onRetry={load}>
        {({ tools: all }) => {
          const info = all.find(({ name }) => name === tool);
          return info === undefined ? (
            <EmptyState title={`${server} has no tool ${tool}`}>
              <p>
                It may have been renamed. <a href={hrefOf('try', [gateway, server])}>Show its tools</a>
              </p>
            </EmptyState>
          ) : (
            <ToolTrial name={{ gateway, server, tool }} info={info} />
          );
        }}
      </LoadedPart>
    </div>
  );
}
