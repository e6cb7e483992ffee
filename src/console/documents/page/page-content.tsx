import { useEffect, useState } from 'preact/hooks'
import type * as Y from 'yjs'
import { Button } from '../../ui/controls.tsx'
import { EmptyNotice } from '../../ui/notice.tsx'
import type { AuthorId, AuthorStyle } from '../authorship/authors.ts'
import { caretPositions } from '../live/awareness-users.ts'
import type { LiveDocument } from '../live/live-document.ts'
import { liveRoots } from '../live/live-roots.ts'
import type { Lens, Moments } from './moments.ts'
import { PageWriter, type Passage } from './page-writer.tsx'

/** Number of passages that are drawn at first. */
const pagePassages = 3_000

interface PageProps {
  readonly label: string
  readonly doc: Y.Doc
  readonly moments: Moments
  readonly lens: Lens
  readonly styles: ReadonlyMap<AuthorId, AuthorStyle>
  readonly only: AuthorId | undefined
  readonly selected: Passage | null
  readonly onSelect: (passage: Passage | null) => void
  /** The users whose cursors are shown; null: none. */
  readonly people: LiveDocument['people'] | null
}

/** Shows a document as a page. A click or the arrow keys select a passage. */
export function PageContent({
  label,
  doc,
  moments,
  lens,
  styles,
  only,
  selected,
  onSelect,
  people,
}: PageProps) {
  const [limit, setLimit] = useState(pagePassages)
  const carets = caretPositions(doc, people?.all() ?? [])
  const writer = new PageWriter({
    moments,
    lens,
    styles,
    only,
    selected: selected?.id ?? null,
    carets,
    limit,
  })
  const roots = liveRoots({ doc }).map(({ name, kind, root }) => ({ name, nodes: writer.root(root, kind) }))
  const { passages } = writer
  useEffect(() => {
    if (selected !== null && !passages.some(({ id }) => id === selected.id)) onSelect(null)
  })
  const selectId = (id: string | undefined) => onSelect(passages.find((each) => each.id === id) ?? null)
  const move = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (by === 0 || passages.length === 0) return
    event.preventDefault()
    const at = passages.findIndex(({ id }) => id === selected?.id)
    onSelect(passages[Math.min(passages.length - 1, Math.max(0, at + by))] ?? null)
  }
  return (
    <section
      class="card page"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys select a passage
      tabIndex={0}
      onKeyDown={move}
      onClick={({ target }) =>
        selectId((target as Element).closest<HTMLElement>('[data-passage]')?.dataset.passage)
      }
    >
      {passages.length === 0 && <EmptyNotice>The document is empty at this moment.</EmptyNotice>}
      {roots.map(({ name, nodes }) => (
        <div key={name}>
          {roots.length > 1 && <p class="root-name">{name}</p>}
          {nodes}
        </div>
      ))}
      {writer.isFull && <Button onClick={() => setLimit(limit + pagePassages)}>Show more</Button>}
    </section>
  )
}
