/**
 * A table of any length that renders only the rows in view. All rows have the same height, so nothing moves during
 * updates.
 */
import type { ComponentChildren, TargetedKeyboardEvent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface ListColumn<T> {
  readonly id: string;
  readonly title: string;
  /** Numbers are right-aligned. Default: left-aligned. */
  readonly align?: 'end';
  readonly cell: (item: T) => ComponentChildren;
}

interface VirtualListProps<T> {
  readonly label: string;
  readonly name: string;
  readonly items: readonly T[];
  readonly itemKey: (item: T) => string;
  readonly columns: readonly ListColumn<T>[];
  /** In pixels. Default 32. */
  readonly rowHeight?: number;
  readonly selected?: string | null;
  readonly onSelect?: (item: T) => void;
  /** Scrolls to new items at the end, until the user scrolls up. Default false. */
  readonly follow?: boolean;
  /** The column by which the items are sorted, and how to sort by another. */
  readonly sort?: {
    readonly by: string;
    readonly descending: boolean;
    readonly change: (id: string) => void;
  };
  readonly rowClass?: (item: T) => string;
}

const SPARE_ROWS = 8;
const HEAD_HEIGHT = 28;

export function VirtualList<T>(props: VirtualListProps<T>): ComponentChildren {
  const { items, itemKey, columns, rowHeight = 32, selected = null, onSelect, follow = false } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const [following, setFollowing] = useState(follow);
  const [active, setActive] = useState<string | null>(selected);
  /** The first row in view and how far it is scrolled, to keep it in place when rows come or go above it. */
  const anchor = useRef<{ key: string; index: number; offset: number } | null>(null);

  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      setView({ top: element.scrollTop, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => setActive(selected), [selected]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    if (following) {
      element.scrollTop = element.scrollHeight;
      return;
    }
    const before = anchor.current;
    const there = before === null ? undefined : items[before.index];
    if (before === null || (there !== undefined && itemKey(there) === before.key)) return;
    const index = items.findIndex((item) => itemKey(item) === before.key);
    if (index >= 0) element.scrollTop = index * rowHeight + before.offset;
  }, [items, following]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE_ROWS);
  const last = Math.min(items.length, Math.ceil((view.top + view.height) / rowHeight) + SPARE_ROWS);
  const activeIndex = active === null ? -1 : items.findIndex((item) => itemKey(item) === active);

  const onScroll = (): void => {
    const element = box.current;
    if (element === null) return;
    const { scrollTop: top, clientHeight: height, scrollHeight } = element;
    const index = Math.min(Math.floor(top / rowHeight), items.length - 1);
    const item = items[index];
    anchor.current =
      item === undefined || top === 0 ? null : { key: itemKey(item), index, offset: top - index * rowHeight };
    setView({ top, height });
    if (follow) setFollowing(scrollHeight - top - height < rowHeight);
  };

  const moveTo = (index: number): void => {
    const item = items[Math.max(0, Math.min(index, items.length - 1))];
    const element = box.current;
    if (item === undefined || element === null) return;
    const place = items.indexOf(item) * rowHeight;
    const room = element.clientHeight - HEAD_HEIGHT - rowHeight;
    if (place < element.scrollTop) element.scrollTop = place;
    else if (place > element.scrollTop + room) element.scrollTop = place - room;
    setFollowing(false);
    setActive(itemKey(item));
    // While a detail is open, it follows the selection.
    if (selected !== null) onSelect?.(item);
  };

  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 2);
    const goal = {
      ArrowDown: activeIndex + 1,
      j: activeIndex + 1,
      ArrowUp: activeIndex < 0 ? items.length - 1 : activeIndex - 1,
      k: activeIndex < 0 ? items.length - 1 : activeIndex - 1,
      PageDown: activeIndex + page,
      PageUp: activeIndex - page,
      Home: 0,
      End: items.length - 1,
    }[event.key];
    const current = items[activeIndex];
    if (goal !== undefined) moveTo(goal);
    else if ((event.key === 'Enter' || event.key === ' ') && current !== undefined) onSelect?.(current);
    else return;
    event.preventDefault();
  };

  const rowId = (index: number): string => `${id}-${index}`;
  return (
    <div class="list-frame">
      <div
        class={`list list-${props.name}`}
        role="grid"
        aria-label={props.label}
        aria-rowcount={items.length + 1}
        aria-activedescendant={activeIndex >= first && activeIndex < last ? rowId(activeIndex) : undefined}
        tabIndex={0}
        ref={box}
        onScroll={onScroll}
        onKeyDown={onKeyDown}
      >
        <div role="row" class="row row-head" aria-rowindex={1}>
          {columns.map((column) => (
            <Head key={column.id} column={column} sort={props.sort} />
          ))}
        </div>
        <div role="rowgroup" class="row-space" style={{ height: `${items.length * rowHeight}px` }}>
          {items.slice(first, last).map((item, place) => {
            const index = first + place;
            const key = itemKey(item);
            return (
              <div
                key={key}
                id={rowId(index)}
                role="row"
                aria-rowindex={index + 2}
                aria-selected={onSelect === undefined ? undefined : key === selected}
                class={`row ${index === activeIndex ? 'row-active' : ''} ${props.rowClass?.(item) ?? ''}`}
                style={{ height: `${rowHeight}px`, transform: `translateY(${index * rowHeight}px)` }}
                onClick={() => {
                  if (getSelection()?.isCollapsed === false) return;
                  setActive(key);
                  onSelect?.(item);
                }}
              >
                {columns.map((column) => (
                  <div key={column.id} role="gridcell" class={`cell cell-${column.id} ${column.align ?? ''}`}>
                    {column.cell(item)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      </div>
      {follow && !following && items.length > 0 ? (
        <button type="button" class="to-end" onClick={() => setFollowing(true)}>
          Jump to the latest ↓
        </button>
      ) : null}
    </div>
  );
}

function Head<T>({
  column,
  sort,
}: {
  column: ListColumn<T>;
  sort: VirtualListProps<T>['sort'];
}): ComponentChildren {
  const sorted = sort?.by === column.id;
  return (
    <div
      role="columnheader"
      class={`cell cell-${column.id} ${column.align ?? ''}`}
      aria-sort={sorted ? (sort.descending ? 'descending' : 'ascending') : undefined}
    >
      {sort === undefined || column.title === '' ? (
        column.title
      ) : (
        <button type="button" class="sort" onClick={() => sort.change(column.id)}>
          {column.title}
          <span class="sort-mark" aria-hidden="true">
            {sorted ? (sort.descending ? '▾' : '▴') : ''}
          </span>
        </button>
      )}
    </div>
  );
}
