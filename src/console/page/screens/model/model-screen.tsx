import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ClientInfo, GatewayInfo, SeenLists, ServerInfo } from '../../../protocol.ts';
import { Button } from '../../parts/button.tsx';
import { ChoiceBar, Select } from '../../parts/fields.tsx';
import { formatCount, plural } from '../../parts/format.ts';
import { Toolbar } from '../../parts/layout.tsx';
import { LoadedPart } from '../../parts/loaded-part.tsx';
import { EmptyState } from '../../parts/notice.tsx';
import { act } from '../../state/act.ts';
import { chosenGateway, gatewayTitle } from '../../state/gateway-choice.ts';
import { clients, gateways, keyIn, serverList } from '../../state/live.ts';
import { useLoaded, type Loaded } from '../../state/load.ts';
import { tell } from '../../state/messages.ts';
import { changeQuery, route } from '../../state/route.ts';
import {
  changesOf,
  exposureParam,
  EXPOSURE_CHOICES,
  VARIANT_TITLES,
  type ExposureDraft,
  type VariantName,
} from './exposures.ts';
import { SeenPart } from './seen-part.tsx';

const VARIANTS: readonly VariantName[] = ['saved', 'suite', 'flat', 'draft'];

export function ModelScreen(): ComponentChildren {
  const live = [...gateways.value.values()].filter((each) => each.live);
  const wished = route.value.query.gateway ?? chosenGateway.value;
  const gateway = live.find(({ id }) => id === wished) ?? live[0];
  if (gateway === undefined)
    return (
      <EmptyState title="No supported gateway">
        <p>All running gateways are an earlier version. Restart their hosts.</p>
      </EmptyState>
    );
  const own = [...clients.value.values()].filter(
    (each) => each.gateway === gateway.id && each.transport !== 'console',
  );
  const client = own.find(({ id }) => id === route.value.query.client) ?? own[0] ?? null;
  return (
    <Compared
      key={keyIn(gateway.id, client?.id ?? '')}
      live={live}
      gateway={gateway}
      clients={own}
      client={client}
    />
  );
}

interface ComparedProps {
  readonly live: readonly GatewayInfo[];
  readonly gateway: GatewayInfo;
  readonly clients: readonly ClientInfo[];
  readonly client: ClientInfo | null;
}

function Compared({ live, gateway, clients: own, client }: ComparedProps): ComponentChildren {
  const all = serverList.value.filter((server) => server.gateway === gateway.id);
  const [draft, setDraft] = useState<ExposureDraft>({});
  const [variant, setVariant] = useState<VariantName>('saved');
  // Reloaded when the lists may have changed.
  const version = all
    .map(({ name, exposure, state, offers }) => `${name} ${exposure} ${state.kind} ${offers.tools}`)
    .join();
  const lists = (each: VariantName): readonly [Loaded<SeenLists>, () => Promise<void>] =>
    useLoaded(
      'lists.get',
      { gateway: gateway.id, client: client?.id ?? null, ...exposureParam(each, draft, all) },
      version,
    );
  const loaded = { saved: lists('saved'), suite: lists('suite'), flat: lists('flat'), draft: lists('draft') };
  const [shown, reload] = loaded[variant];
  return (
    <div class="model">
      <Toolbar>
        {live.length > 1 ? (
          <Select
            label="Gateway to show"
            value={gateway.id}
            options={live.map(({ id }) => ({ value: id, title: gatewayTitle(id) }))}
            onChange={(id) => changeQuery({ gateway: id, client: undefined })}
          />
        ) : null}
        {own.length === 0 ? (
          <span class="muted">No client is connected. This is what a client would see.</span>
        ) : (
          <Select
            label="Client"
            value={client?.id ?? ''}
            options={own.map(({ id, name, version: of }) => ({
              value: id,
              title: `${name ?? id} ${of ?? ''}`,
            }))}
            onChange={(id) => changeQuery({ client: id })}
          />
        )}
      </Toolbar>
      <div class="cards" role="group" aria-label="Compare">
        {VARIANTS.map((each) => (
          <VariantCard
            key={each}
            variant={each}
            lists={loaded[each][0]}
            flat={loaded.flat[0]}
            chosen={each === variant}
            onChoose={() => setVariant(each)}
          />
        ))}
      </div>
      <div class="model-body">
        <section class="model-servers" aria-label="Exposure of each server">
          <Exposures
            servers={all}
            draft={draft}
            onDraft={(next) => {
              setDraft(next);
              setVariant('draft');
            }}
            lists={shown}
          />
        </section>
        <LoadedPart loaded={shown} what="what the model sees" onRetry={reload}>
          {(seen) => <SeenPart seen={seen} />}
        </LoadedPart>
      </div>
    </div>
  );
}

interface VariantCardProps {
  readonly variant: VariantName;
  readonly lists: Loaded<SeenLists>;
  readonly flat: Loaded<SeenLists>;
  readonly chosen: boolean;
  readonly onChoose: () => void;
}

function VariantCard({ variant, lists, flat, chosen, onChoose }: VariantCardProps): ComponentChildren {
  const tokens = lists.kind === 'loaded' ? lists.value.tokens : null;
  const most = flat.kind === 'loaded' ? flat.value.tokens : null;
  const saved =
    tokens === null || most === null || most === 0 ? null : Math.round((1 - tokens / most) * 1000) / 10;
  return (
    <button type="button" class="card" aria-pressed={chosen} onClick={onChoose}>
      <span class="card-title">{VARIANT_TITLES[variant]}</span>
      <span class="card-value">{formatCount(tokens)}</span>
      <span class="card-note">
        {variant === 'flat' || saved === null || saved === 0
          ? 'tokens'
          : `tokens, ${Math.abs(saved)}% ${saved > 0 ? 'less' : 'more'}`}
      </span>
    </button>
  );
}

interface ExposuresProps {
  readonly servers: readonly ServerInfo[];
  readonly draft: ExposureDraft;
  readonly onDraft: (draft: ExposureDraft) => void;
  readonly lists: Loaded<SeenLists>;
}

/** Each server with its exposure, which can be changed in a draft and then saved. */
function Exposures({ servers, draft, onDraft, lists }: ExposuresProps): ComponentChildren {
  const changes = changesOf(draft, servers);
  const tokens = new Map<string, number>();
  if (lists.kind === 'loaded')
    for (const tool of lists.value.tools)
      if (tool.server !== null) tokens.set(tool.server, (tokens.get(tool.server) ?? 0) + tool.tokens);
  const save = async (): Promise<void> => {
    for (const { gateway, name, exposure } of changes) {
      const response = await act('servers.expose', {
        gateway,
        server: name,
        exposure: draft[name] ?? exposure,
      });
      if (!response.ok) {
        tell(`The exposure of ${name} was not saved`, response.error);
        return;
      }
    }
    tell(`Saved the exposure of ${plural(changes.length, 'server')}`);
    onDraft({});
  };
  return (
    <>
      <ul class="exposures">
        {servers.map(({ name, exposure, kind, file }) => (
          <li
            key={name}
            class={draft[name] !== undefined && draft[name] !== exposure ? 'exposure-changed' : ''}
          >
            <span class="exposure-name">{name}</span>
            <span class="exposure-tokens">{formatCount(tokens.get(name) ?? null)}</span>
            <ChoiceBar
              label={`Exposure of ${name}`}
              value={draft[name] ?? exposure}
              options={EXPOSURE_CHOICES}
              disabled={kind === 'builtin' || file === null}
              onChange={(value) => onDraft({ ...draft, [name]: value })}
            />
          </li>
        ))}
      </ul>
      <div class="form-foot model-save">
        <Button kind="main" changes disabled={changes.length === 0} onClick={save}>
          {changes.length === 0 ? 'Save' : `Save ${plural(changes.length, 'change')}`}
        </Button>
        <Button disabled={changes.length === 0} onClick={() => onDraft({})}>
          Undo changes
        </Button>
      </div>
    </>
  );
}
