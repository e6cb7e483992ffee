import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'
import { Button } from '../../ui/controls.tsx'
import { useLiveView } from './live-view.ts'
import { CaretMark, classesOf } from './marks.tsx'
import { type RunAttributes, runsOf, type TextRun } from './text-runs.ts'
import {
  isLine,
  jsonCells,
  mapCells,
  memberCount,
  sequenceCells,
  type TreeCell,
  valueFormOf,
} from './value-tree.ts'

/**
 * Returns the maximum number of values that a container shows at first. The number is smaller for nested
 * containers.
 */
const pageOf = (depth: number): number => (depth === 0 ? 100 : 30)
/**
 * Containers up to this depth are open at first. After `drawnMax` values are drawn, further containers are
 * closed.
 */
const openDepth = 5
const drawnMax = 1_000
const attributesMax = 20

interface ValueProps {
  readonly value: unknown
  readonly depth: number
  /** Name of the value in its parent; null if the parent is a sequence. */
  readonly name?: string | null
}

/** Shows a value in a document: plain JSON or a shared type. */
function ValueView({ value, depth, name = null }: ValueProps): VNode {
  const label = name === null ? null : <span class="name">{name}: </span>
  const form = valueFormOf(value)
  switch (form.kind) {
    case 'json':
      return <Json value={form.value} depth={depth} label={label} />
    case 'map':
      return (
        <Branch depth={depth} title={[label, `{${mapCells(form.type, 0).rest}}`]}>
          <MemberList type={form.type} depth={depth} />
        </Branch>
      )
    case 'array':
      return (
        <Branch depth={depth} title={[label, `[${form.type._length}]`]}>
          <Sequence type={form.type} depth={depth} />
        </Branch>
      )
    case 'element':
      return <Element type={form.type} name={form.name} depth={depth} label={label} />
    case 'plain':
      return (
        <>
          {label}
          <code class="plain">{form.text}</code>
        </>
      )
    default:
      return (
        <span class="text">
          {label}
          <Attributes type={form.type} />
          <RichTextView type={form.type} depth={depth} />
        </span>
      )
  }
}

interface TypeProps {
  readonly type: SharedRoot
  readonly depth: number
}

/**
 * Shows a text with its embeds. Nested texts are shown as blocks, because Lexical and Slate use them as
 * blocks. All other embeds are inline, and closed at first.
 */
export const RichTextView = ({ type, depth }: TypeProps) => (
  <TextView
    type={type}
    embed={(value) =>
      valueFormOf(value).kind === 'text' ? (
        <div class="block">
          <ValueView value={value} depth={depth + 1} />
        </div>
      ) : (
        <span class="embed">
          <ValueView value={value} depth={openDepth} />
        </span>
      )
    }
  />
)

export const MemberList = ({ type, depth }: TypeProps) => (
  <Cells depth={depth} read={(limit) => mapCells(type, limit)} />
)

export const Sequence = ({ type, depth }: TypeProps) => (
  <Cells depth={depth} read={(limit) => sequenceCells(type, limit)} />
)

interface JsonProps {
  readonly value: object
  readonly depth: number
  readonly label: ComponentChildren
}

const Json = ({ value, depth, label }: JsonProps) => {
  const count = memberCount(value)
  return (
    <Branch depth={depth} title={[label, Array.isArray(value) ? `[${count}]` : `{${count}}`]}>
      <Cells depth={depth} read={(limit) => jsonCells(value, limit)} />
    </Branch>
  )
}

interface ElementProps extends TypeProps {
  readonly name: string
  readonly label: ComponentChildren
}

function Element({ type, name, depth, label }: ElementProps) {
  const start = (
    <>
      {label}
      <span class="tag-name">&lt;{name}</span>
      <Attributes type={type} />
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
      {sequenceCells(type, attributesMax).cells.map(({ key, value }) => (
        <RichTextView key={key} type={value as SharedRoot} depth={depth} />
      ))}
      <span class="tag-name">&lt;/{name}&gt;</span>
    </span>
  )
}

/** Shows the attributes of an element. Texts of Lexical and Slate also have attributes. */
const Attributes = ({ type }: { readonly type: SharedRoot }) => (
  <>
    {mapCells(type, attributesMax).cells.map(({ key, name, value }) => (
      <span key={key} class="attribute">
        {' '}
        {name}=
        <ValueView value={value} depth={openDepth} />
      </span>
    ))}
  </>
)

interface BranchProps {
  readonly title: ComponentChildren
  readonly depth: number
  readonly children: ComponentChildren
}

/** Shows a container that the user can open. Its children are rendered only while it is open. */
function Branch({ title, depth, children }: BranchProps) {
  const { drawn } = useLiveView()
  const [isOpen, setIsOpen] = useState(() => depth < openDepth && drawn.count < drawnMax)
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {isOpen && children}
    </details>
  )
}

interface CellsProps {
  readonly depth: number
  readonly read: (limit: number) => { readonly cells: readonly TreeCell[]; readonly rest: number }
}

function Cells({ depth, read }: CellsProps) {
  const { freshFrom, drawn } = useLiveView()
  const [limit, setLimit] = useState(pageOf(depth))
  const { cells, rest } = read(limit)
  drawn.count += cells.length
  return (
    <ul class="cells">
      {cells.map(({ key, name, value, client, clock }) => (
        <li key={key} class={clock >= freshFrom(client) ? 'fresh' : undefined}>
          <ValueView value={value} depth={depth + 1} name={name} />
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

/** Maximum number of units that are shown at first. */
const pageUnits = 20_000

interface TextProps {
  readonly type: SharedRoot
  /** Renders an embed. The embed can be any value. */
  readonly embed: (value: unknown) => ComponentChildren
}

/** Shows a text with its formatting, embeds and cursors. */
function TextView({ type, embed }: TextProps) {
  const { carets, freshFrom } = useLiveView()
  const [limit, setLimit] = useState(pageUnits)
  const { runs, rest } = runsOf(type, { limit, freshFrom, carets: carets.get(type) ?? [] })
  return (
    <>
      {runs.map((run, index) => (
        <Part key={index} run={run} embed={embed} />
      ))}
      {rest > 0 && (
        <span class="more">
          <Button onClick={() => setLimit(limit + pageUnits)}>
            Show more ({rest.toLocaleString()} characters)
          </Button>
        </span>
      )}
    </>
  )
}

function Part({ run, embed }: Pick<TextProps, 'embed'> & { readonly run: TextRun }) {
  if (run.kind === 'caret') return <CaretMark caret={run.caret} />
  if (run.kind === 'embed') return embed(run.value)
  const { text, attributes, isFresh } = run
  const style = classesOf(attributes, isFresh)
  if (style === '') return text
  return (
    <span class={style} title={titleOf(attributes)}>
      {text}
    </span>
  )
}

const titleMax = 500

function titleOf(attributes: RunAttributes): string | undefined {
  const labels = Object.entries(attributes).map(([name, value]) =>
    value === true ? name : `${name}: ${JSON.stringify(value)}`,
  )
  return labels.length === 0 ? undefined : labels.join(', ').slice(0, titleMax)
}
