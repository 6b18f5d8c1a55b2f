import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ServerInfo } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { useLoaded } from '../../state/load.ts';
import { hrefOf } from '../../state/route.ts';

/**
 * Its tools under their own names. Listing them starts the server, so that is left to the user unless it is running.
 */
export function ServerTools({ server }: { server: ServerInfo }): ComponentChildren {
  const [asked, setAsked] = useState(server.state.kind === 'running');
  if (asked) return <ToolNames server={server} />;
  return (
    <div class="empty empty-small">
      <p>{server.name} is not running. Start it to list its tools.</p>
      <Button icon="start" changes onClick={() => setAsked(true)}>
        Start and list tools
      </Button>
    </div>
  );
}

function ToolNames({ server }: { server: ServerInfo }): ComponentChildren {
  const [tools, load] = useLoaded('tools.list', { gateway: server.gateway, server: server.name });
  return (
    <LoadedPart loaded={tools} what="the tools" onRetry={load}>
      {({ tools: all }) =>
        all.length === 0 ? (
          <p class="muted">This server has no tools.</p>
        ) : (
          <ul class="tool-names">
            {all.map(({ name, title, description }) => (
              <li key={name}>
                <a href={hrefOf('try', [server.gateway, server.name, name])}>
                  <code>{name}</code>
                </a>
                {title === null || title === name ? null : <span> {title}</span>}
                <p class="muted clip">{description ?? 'No description.'}</p>
              </li>
            ))}
          </ul>
        )
      }
    </LoadedPart>
  );
}
