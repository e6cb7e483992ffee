import { type RootKind, rootKind, type SharedRoot } from '../../../core/content/yjs/root-kind.ts'
import type { LiveDocument } from './live-document.ts'

interface RootView {
  readonly name: string
  readonly kind: RootKind
  readonly root: SharedRoot
}

/** Returns all roots of the live document, ordered by name. */
export const liveRoots = ({ doc }: Pick<LiveDocument, 'doc'>): readonly RootView[] =>
  [...doc.share]
    .map(([name, root]) => ({ name, root, kind: rootKind(doc, name) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
