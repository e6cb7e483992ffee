import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Root } from '../../../content/kind.ts'
import { Button } from '../../ui/controls.tsx'
import { useScene } from './scene.ts'
import { Text } from './text.tsx'
import { type Cell, cellsOf, formOf, isLine, jsonCells, membersOf } from './tree.ts'

/** Values shown of one container before one asks for more: fewer inside of others. */
const pageOf = (depth: number): number => (depth === 0 ? 100 : 30)
/** So deep containers are open at first. */
const openDepth = 2
const attributesMax = 20

interface ValueProps {
  readonly value: unknown
  readonly depth: number
}

/** A value in a document: plain JSON, or a shared type. */
export function Value({ value, depth }: ValueProps) {
  const form = formOf(value)
  switch (form.kind) {
    case 'plain':
      return <code class="plain">{form.text}</code>
    case 'json':
      return <Json value={form.value} depth={depth} />
    case 'map':
      return (
        <Branch depth={depth} title={`{${membersOf(form.type, 0).rest}}`}>
          <Members type={form.type} depth={depth} />
        </Branch>
      )
    case 'array':
      return (
        <Branch depth={depth} title={`[${form.type._length}]`}>
          <Sequence type={form.type} depth={depth} />
        </Branch>
      )
    case 'text':
      return (
        <span class="text">
          <Attributes type={form.type} />
          <Text type={form.type} depth={depth} />
        </span>
      )
    case 'element':
      return <Element type={form.type} name={form.name} depth={depth} />
  }
}

interface TypeProps {
  readonly type: Root
  readonly depth: number
}

export const Members = ({ type, depth }: TypeProps) => (
  <Cells depth={depth} read={(limit) => membersOf(type, limit)} />
)

export const Sequence = ({ type, depth }: TypeProps) => (
  <Cells depth={depth} read={(limit) => cellsOf(type, limit)} />
)

const Json = ({ value, depth }: { readonly value: object; readonly depth: number }) => {
  const count = Object.keys(value).length
  return (
    <Branch depth={depth} title={Array.isArray(value) ? `[${count}]` : `{${count}}`}>
      <Cells depth={depth} read={(limit) => jsonCells(value, limit)} />
    </Branch>
  )
}

function Element({ type, name, depth }: TypeProps & { readonly name: string }) {
  const start = (
    <>
      <span class="tag-name">&lt;{name}</span> <Attributes type={type} />
      <span class="tag-name">&gt;</span>
    </>
  )
  if (!isLine(type))
    return (
      <Branch depth={depth} title={start}>
        <Sequence type={type} depth={depth} />
      </Branch>
    )
  return (
    <span class="text">
      {start}
      {cellsOf(type, attributesMax).cells.map(({ key, value }) => (
        <Text key={key} type={value as Root} depth={depth} />
      ))}
      <span class="tag-name">&lt;/{name}&gt;</span>
    </span>
  )
}

/** Attributes of an element, or of a text of Lexical or Slate. */
const Attributes = ({ type }: { readonly type: Root }) => (
  <>
    {membersOf(type, attributesMax).cells.map(({ key, name, value }) => (
      <span key={key} class="attribute">
        {name}={typeof value === 'string' ? JSON.stringify(value) : <Value value={value} depth={9} />}{' '}
      </span>
    ))}
  </>
)

interface BranchProps {
  readonly title: ComponentChildren
  readonly depth: number
  readonly children: ComponentChildren
}

/** What is closed is not drawn. */
function Branch({ title, depth, children }: BranchProps) {
  const [isOpen, setIsOpen] = useState(depth < openDepth)
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  )
}

interface CellsProps {
  readonly depth: number
  readonly read: (limit: number) => { readonly cells: readonly Cell[]; readonly rest: number }
}

function Cells({ depth, read }: CellsProps) {
  const { freshFrom } = useScene()
  const [limit, setLimit] = useState(pageOf(depth))
  const { cells, rest } = read(limit)
  return (
    <ul class="cells">
      {cells.map(({ key, name, value, client, clock }) => (
        <li key={key} class={clock >= freshFrom(client) ? 'fresh' : undefined}>
          {name !== null && <span class="name">{name}: </span>}
          <Value value={value} depth={depth + 1} />
        </li>
      ))}
      {rest > 0 && (
        <li>
          <Button onClick={() => setLimit(limit + pageOf(0))}>Show more ({rest.toLocaleString()})</Button>
        </li>
      )}
    </ul>
  )
}
