import type { RootKind } from '../../../core/content/yjs/root-kind.ts'
import { EmptyNotice } from '../../ui/notice.tsx'
import { caretPositions } from './awareness-users.ts'
import type { LiveDocument } from './live-document.ts'
import { liveRoots, type RootView } from './live-roots.ts'
import { LiveViewContext } from './live-view.ts'
import { MemberList, RichTextView, Sequence } from './value-view.tsx'

const kinds: Readonly<Record<RootKind, string>> = {
  none: 'empty',
  text: 'text',
  xml: 'XML',
  xmltext: 'rich text (Lexical, Slate)',
  array: 'JSON array',
  map: 'JSON object',
}

/** Shows all roots of the live document. */
export function LiveContent({ live }: { readonly live: LiveDocument }) {
  const { doc, people, fresh } = live
  const { carets } = caretPositions(doc, people.all())
  const roots = liveRoots(live)
  if (roots.length === 0 && live.connection.kind === 'live')
    return <EmptyNotice>This document is empty. Edits appear here at once.</EmptyNotice>
  return (
    <LiveViewContext.Provider value={{ carets, freshFrom: fresh.from, drawn: { count: 0 } }}>
      {roots.map(({ name, kind, root }) => (
        <section key={name} class="card root" aria-label={`Root ${name}`}>
          <h3>
            {name} <span class="tag">{kinds[kind]}</span>
          </h3>
          <RootContent root={root} kind={kind} />
        </section>
      ))}
    </LiveViewContext.Provider>
  )
}

/** How a root is shown, by its kind. */
const shownAs: Readonly<Record<RootKind, 'members' | 'sequence' | 'text'>> = {
  none: 'text',
  text: 'text',
  xmltext: 'text',
  xml: 'sequence',
  array: 'sequence',
  map: 'members',
}

function RootContent({ root, kind }: Pick<RootView, 'root' | 'kind'>) {
  if (shownAs[kind] === 'members') return <MemberList type={root} depth={0} />
  if (shownAs[kind] === 'sequence') return <Sequence type={root} depth={0} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keyboard
    <section class="text live-text" tabIndex={0} aria-label="Text">
      <RichTextView type={root} depth={0} />
    </section>
  )
}
