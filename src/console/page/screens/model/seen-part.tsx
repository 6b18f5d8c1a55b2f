import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { SeenItem, SeenLists } from '../../../protocol.ts';
import { Markdown } from '../../markdown/markdown.tsx';
import { CopyButton } from '../../parts/button.tsx';
import { ChoiceBar } from '../../parts/fields.tsx';
import { formatCount, plural } from '../../parts/format.ts';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Tabs } from '../../parts/layout.tsx';
import { VirtualList, type ListColumn } from '../../parts/virtual-list.tsx';

const KINDS = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;
type SeenKind = (typeof KINDS)[number];

const TITLES: Readonly<Record<SeenKind, string>> = {
  tools: 'Tools',
  resources: 'Resources',
  resourceTemplates: 'Templates',
  prompts: 'Prompts',
};

const COLUMNS: readonly ListColumn<SeenItem>[] = [
  { id: 'name', title: 'Name', cell: ({ name }) => <code>{name}</code> },
  { id: 'server', title: 'Server', cell: ({ server }) => server ?? <span class="muted">gateway</span> },
  { id: 'tokens', title: 'Tokens', align: 'end', cell: ({ tokens }) => formatCount(tokens) },
];

/** The lists as they are sent, with the cost of each item. */
export function SeenPart({ seen }: { seen: SeenLists }): ComponentChildren {
  const [tab, setTab] = useState<string>('tools');
  const [name, setName] = useState<string | null>(null);
  const kind = KINDS.find((each) => each === tab);
  const items = kind === undefined ? [] : [...seen[kind]].sort((a, b) => b.tokens - a.tokens);
  const chosen = items.find((item) => item.name === name) ?? items[0];
  return (
    <section class="seen" aria-label="What the model sees">
      {seen.unknown.length === 0 ? null : (
        <p class="seen-unknown">Not counted, because they have never run: {seen.unknown.join(', ')}</p>
      )}
      <Tabs
        label="Lists"
        tabs={[
          ...KINDS.map((each) => ({ id: each, title: TITLES[each], count: seen[each].length })),
          { id: 'instructions', title: 'Instructions', count: seen.instructions.tokens },
        ]}
        chosen={tab}
        onChoose={setTab}
      >
        {kind === undefined ? (
          <Instructions seen={seen} />
        ) : items.length === 0 ? (
          <p class="muted">None.</p>
        ) : (
          <>
            <VirtualList
              label={TITLES[kind]}
              name="seen"
              items={items}
              itemKey={(item) => item.name}
              columns={COLUMNS}
              rowHeight={28}
              selected={chosen?.name ?? null}
              onSelect={(item) => setName(item.name)}
            />
            {chosen === undefined ? null : <Definition key={chosen.name} item={chosen} />}
          </>
        )}
      </Tabs>
    </section>
  );
}

function Instructions({ seen }: { seen: SeenLists }): ComponentChildren {
  return (
    <div class="seen-detail" tabIndex={0} role="group" aria-label="Instructions">
      <p class="muted">{plural(seen.instructions.tokens, 'token')}</p>
      {seen.instructions.text === '' ? (
        <p class="muted">None.</p>
      ) : (
        <Markdown text={seen.instructions.text} />
      )}
    </div>
  );
}

function Definition({ item }: { item: SeenItem }): ComponentChildren {
  const [view, setView] = useState<'tree' | 'text'>('tree');
  return (
    <div class="seen-detail" tabIndex={0} role="group" aria-label={`Definition of ${item.name}`}>
      <div class="result-bar">
        <strong class="grow">{item.name}</strong>
        <ChoiceBar
          label="Show the definition as"
          value={view}
          options={[
            { value: 'tree', title: 'Tree' },
            { value: 'text', title: 'As sent' },
          ]}
          onChange={setView}
        />
        <CopyButton text={item.definition} name="Copy the definition" />
      </div>
      {view === 'tree' ? (
        <JsonTree value={JSON.parse(item.definition) as unknown} label={`Definition of ${item.name}`} />
      ) : (
        <pre class="plain-text code">{item.definition}</pre>
      )}
    </div>
  );
}
