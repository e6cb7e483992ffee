import type { Node } from 'prosemirror-model'
import type { EditorState } from 'prosemirror-state'
import {
  type AbstractType,
  createAbsolutePositionFromRelativePosition,
  type Doc,
  type RelativePosition,
  type XmlFragment,
  XmlText,
} from 'yjs'

/** The state of the plugin that binds the editor to Yjs: that of y-prosemirror, or of a copy of it. */
interface SyncState {
  readonly doc: Doc
  readonly type: XmlFragment
  /** Null until the editor shows the document. */
  readonly binding: { readonly mapping: ReadonlyMap<unknown, Node | readonly Node[]> } | null
  /** Whether the last transaction has come from Yjs. */
  readonly isChangeOrigin?: boolean
}

/** Returns the state of the binding; null if there is none. Each copy of y-prosemirror has a key of its own. */
export function syncStateOf(state: EditorState): SyncState | null {
  for (const plugin of state.plugins) {
    const found = plugin.getState(state) as Partial<SyncState> | undefined
    if (found?.doc && found.type && found.binding?.mapping) return found as SyncState
  }
  return null
}

/** The places of the shared types of a document in its editor. Reads the whole document once. */
export class ContentPlaces {
  readonly #sync: SyncState
  /** Position of the start and of the end of the content of each type. */
  readonly #bounds = new Map<unknown, readonly [start: number, end: number]>()

  constructor(sync: SyncState) {
    this.#sync = sync
    this.#add(sync.type, 0)
  }

  /** Returns the position in the editor; null if the content of the place was deleted. */
  at(relative: RelativePosition): number | null {
    const found = createAbsolutePositionFromRelativePosition(relative, this.#sync.doc)
    if (found === null) return null
    const [start, end] = this.#bounds.get(found.type) ?? [null, null]
    if (start === null || end === null) return null
    if (found.type instanceof XmlText) return start + found.index
    const child = (found.type as AbstractType<unknown> as XmlFragment).get(found.index)
    const content = this.#bounds.get(child)
    if (content === undefined) return end
    return child instanceof XmlText ? content[0] : content[0] - 1
  }

  #add(type: XmlFragment, start: number): number {
    let at = start
    for (const child of type.toArray()) {
      if (child instanceof XmlText) {
        this.#bounds.set(child, [at, at + child.length])
        at += child.length
        continue
      }
      const node = this.#sync.binding?.mapping.get(child) as Node | undefined
      // The binding leaves out elements that its schema does not have.
      if (node === undefined) continue
      this.#add(child as XmlFragment, at + 1)
      at += node.nodeSize
    }
    this.#bounds.set(type, [start, at])
    return at
  }
}
