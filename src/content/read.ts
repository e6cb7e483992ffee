import type * as Y from 'yjs'
import { rootKind } from './kind.ts'
import { checkContentKey, checkKind, contentTypeOf } from './replace.ts'
import { contentTypes } from './types.ts'

/** What a root holds, in the form that a replacement takes. */
export interface Content {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
}

/** The root that is meant when none is named. */
export const defaultContentKey = 'content'

/**
 * Reads one root; an empty one reads as empty text. Without `contentKey`: `content` if it holds anything, else the only
 * root that does, else `content`. Throws INVALID_ARGUMENT for a `contentKey` that cannot name a root.
 */
export function readContent(doc: Y.Doc, contentKey?: string): Content {
  if (contentKey !== undefined) checkContentKey(contentKey)
  const key = contentKey ?? onlyContentKey(doc)
  const kind = rootKind(doc, key)
  const type = kind === 'none' ? 'text' : kind
  return { type, contentKey: key, data: contentTypes[type]?.read(doc, key) }
}

/**
 * Reads one root as content of the given type; an empty one as the empty content of that type. Throws INVALID_ARGUMENT
 * when there is no such type, or the root
 * holds another kind.
 */
export function readContentAs(doc: Y.Doc, type: string, contentKey?: string): Content {
  if (contentKey !== undefined) checkContentKey(contentKey)
  const key = contentKey ?? onlyContentKey(doc)
  const wanted = contentTypeOf(type)
  checkKind(doc, { type, contentKey: key }, wanted.kind)
  return { type, contentKey: key, data: wanted.read(doc, key) }
}

function onlyContentKey(doc: Y.Doc): string {
  if (rootKind(doc, defaultContentKey) !== 'none') return defaultContentKey
  const keys = [...doc.share.keys()].filter((key) => rootKind(doc, key) !== 'none')
  return keys.length === 1 ? (keys[0] as string) : defaultContentKey
}
