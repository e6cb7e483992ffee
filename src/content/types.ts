import type * as Y from 'yjs'
import type { Change } from './change.ts'
import type { RootKind } from './kind.ts'
import { checkText, readText, replaceText } from './text.ts'

/** How one content type is checked, written and read. */
export interface ContentType {
  /** The kind a root must have, if it has one already. */
  readonly kind: RootKind
  /** Checks everything that needs no document; throws INVALID_ARGUMENT saying what and where. */
  check(data: unknown): void
  /** Makes the root equal to `data` in at most one transaction; `data` has passed `check`, the root's kind fits. */
  replace(doc: Y.Doc, contentKey: string, data: unknown): Change
  /** What `replace` would take to change nothing. */
  read(doc: Y.Doc, contentKey: string): unknown
}

const text: ContentType = {
  kind: 'text',
  check: checkText,
  replace: (doc, contentKey, data) => replaceText(doc, contentKey, checkText(data)),
  read: readText,
}

/** Content types by their name in the REST API. Without a prototype, so that `constructor` is no type. */
export const contentTypes: Readonly<Record<string, ContentType>> = Object.assign(Object.create(null), {
  text,
})

export const contentTypeNames: readonly string[] = Object.keys(contentTypes)
