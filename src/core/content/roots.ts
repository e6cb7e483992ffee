import type * as Y from 'yjs'
import { ApiError } from '../base/errors.ts'
import { nearMiss, shortened } from '../base/text.ts'
import { type RootKind, rootKind } from './yjs/root-kind.ts'

/**
 * Name of the root that is used if a call specifies no root and the document does not have exactly one root.
 */
export const defaultContentKey = 'content'

/**
 * Returns whether a root has any item, deleted or not. A stored kind is also an item. `doc.get` alone adds no
 * item.
 */
export function rootExists(doc: Y.Doc, contentKey: string): boolean {
  const root = doc.share.get(contentKey)
  return root !== undefined && (root._start !== null || root._map.size > 0)
}

/** Returns the names of the roots that exist, sorted by code units. */
export const rootNames = (doc: Y.Doc): readonly string[] =>
  [...doc.share.keys()].filter((name) => rootExists(doc, name)).sort()

/**
 * Returns the name of the root for a read or write. If `given` is undefined, this is the only root of the
 * document, or `content` if there is no root or several roots.
 */
export function contentKeyOf(doc: Y.Doc, given: string | undefined): string {
  if (given !== undefined) return given
  const [only, ...others] = rootNames(doc)
  return only !== undefined && others.length === 0 ? only : defaultContentKey
}

/** A root of a document. The type is `none` if the root is empty and may become any kind. */
interface RootListing {
  readonly contentKey: string
  readonly type: RootKind
}

/** Lists the roots that exist, with their kinds. */
export const listRoots = (doc: Y.Doc): readonly RootListing[] =>
  rootNames(doc).map((contentKey) => ({ contentKey, type: rootKind(doc, contentKey) }))

/** Maximum number of root names in an error message, and maximum length of each name. */
const namesMax = 20
const nameLengthMax = 100

/** Returns the name of a root in quotes, for a message. The result has at most about 100 characters. */
export const shownName = (contentKey: string): string => JSON.stringify(shortened(contentKey, nameLengthMax))

/**
 * Checks that a root exists. In a document without roots, every root can be read as empty.
 * @param given the root that the caller has specified, if any
 * @param remedy end of the message for a call that can create the root
 * @throws ApiError NOT_FOUND if the document has roots and this root is not among them
 */
export function requireRoot(doc: Y.Doc, contentKey: string, given: string | undefined, remedy = ''): void {
  if (rootExists(doc, contentKey)) return
  const names = rootNames(doc)
  if (names.length === 0) return
  const shown = names.slice(0, namesMax)
  const more = names.length > shown.length ? ` and ${names.length - shown.length} more` : ''
  const list = `${shown.map(shownName).join(', ')}${more}`
  const meant = nearMiss(contentKey, names)
  const suggestion = meant === null ? '' : ` (did you mean ${shownName(meant)}?)`
  const message =
    given === undefined
      ? `the document has several roots and none is called "${contentKey}": name one of ${list} as contentKey`
      : `the document has no root ${shownName(contentKey)}; its roots are ${list}${suggestion}`
  throw new ApiError('crdt/root-not-found', message + remedy, {
    details: { roots: shown.map((name) => shortened(name, nameLengthMax)) },
  })
}

/** Returns whether an error is the one that `requireRoot` throws. */
export const isRootMissing = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === 'crdt/root-not-found'
