import type { ComponentChildren } from 'preact'
import type { PagedQuery } from '../api/hooks.ts'
import { Button } from './controls.tsx'
import { EmptyNotice, ReadState } from './notice.tsx'

export interface Column<Item> {
  readonly title: string
  readonly cell: (item: Item) => ComponentChildren
  /** True for a column of numbers. Such a column is aligned to the right. */
  readonly numeric?: boolean
}

interface TableProps<Item> {
  readonly caption: string
  readonly columns: readonly Column<Item>[]
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
}

export const Table = <Item,>({ caption, columns, items, keyOf }: TableProps<Item>) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
  <section class="scroll" aria-label={caption} tabIndex={0}>
    <table>
      <caption class="unseen">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ title, numeric }) => (
            <th key={title} scope="col" class={numeric ? 'numeric' : undefined}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={keyOf(item)}>
            {columns.map(({ title, cell, numeric }) => (
              <td key={title} class={numeric ? 'numeric' : undefined} data-title={title}>
                {cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </section>
)

interface ListProps<Item> extends Omit<TableProps<Item>, 'items'> {
  readonly listing: PagedQuery<Item>
  /** Text that is shown if the listing has no items. */
  readonly empty: ComponentChildren
}

/** Shows a listing as a table. A button reads the next page. */
export function PagedTable<Item>({ listing, empty, ...table }: ListProps<Item>) {
  const { items, error, loading, more, reload } = listing
  return (
    <>
      <ReadState error={error} loading={loading} />
      {error !== null && <Button onClick={reload}>Try again</Button>}
      {items.length > 0 && <Table items={items} {...table} />}
      {items.length === 0 && !loading && error === null && more === null && (
        <EmptyNotice>{empty}</EmptyNotice>
      )}
      {more !== null && (
        <p>
          {items.length === 0 && 'No matches so far. '}
          <Button onClick={more}>{items.length === 0 ? 'Search on' : 'Show more'}</Button>
        </p>
      )}
    </>
  )
}

interface DefinitionListProps {
  readonly of: readonly (readonly [string, ComponentChildren])[]
  /** True if the entries are in a row. */
  readonly inline?: boolean
}

/** Shows a list of names with their values. Entries without a value are omitted. */
export const DefinitionList = ({ of, inline }: DefinitionListProps) => (
  <dl class={inline ? 'figures' : 'facts'}>
    {of
      .filter(([, what]) => what !== null && what !== undefined && what !== '')
      .map(([name, what]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{what}</dd>
        </div>
      ))}
  </dl>
)
