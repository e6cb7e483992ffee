import type * as Y from 'yjs'
import { contentTypes } from './content-types.ts'
import { Output, readMax } from './output.ts'
import { checkContentKey, checkKind, contentTypeOf } from './replace.ts'
import { contentKeyOf, requireRoot } from './roots.ts'
import { type KnownKind, rootKind } from './yjs/root-kind.ts'

/** The content of a root, in the form in which a replacement accepts it. */
export interface RootContent {
  readonly type: string
  readonly contentKey: string
  readonly data: unknown
}

/**
 * Reads one root, which `contentKeyOf` determines. An empty root without a kind is read as empty text.
 * @throws ApiError INVALID_ARGUMENT if `contentKey` cannot be the name of a root; NOT_FOUND as for
 * `requireRoot`
 */
export function readRoot(doc: Y.Doc, contentKey?: string, output = new Output(readMax)): RootContent {
  const root = findRoot(doc, contentKey)
  requireRoot(doc, root.contentKey, contentKey)
  return { ...root, data: contentTypes[root.type]?.read(doc, root.contentKey, output) }
}

/**
 * Returns the root that `readRoot` would read, without its data. The root need not exist.
 * @throws ApiError INVALID_ARGUMENT
 */
export function findRoot(doc: Y.Doc, contentKey?: string): Omit<RootContent, 'data'> {
  if (contentKey !== undefined) checkContentKey(contentKey)
  const key = contentKeyOf(doc, contentKey)
  const kind = rootKind(doc, key)
  return { type: kind === 'none' ? 'text' : kind, contentKey: key }
}

/**
 * Reads one root as content of the given type. An empty root without a kind is read as empty content of that
 * type.
 * @param schemaKind the kind that the schema of the root describes; undefined without a schema
 * @throws ApiError as for `readRoot`; INVALID_ARGUMENT if the type does not exist, or if the root has another
 * kind
 */
export function readRootAs(
  doc: Y.Doc,
  type: string,
  contentKey?: string,
  output = new Output(readMax),
  schemaKind?: KnownKind,
): RootContent {
  const { contentKey: key } = findRoot(doc, contentKey)
  const wanted = contentTypeOf(type)
  requireRoot(doc, key, contentKey)
  checkKind(doc, { type, contentKey: key }, wanted.kindOf(doc, key, schemaKind))
  return { type, contentKey: key, data: wanted.read(doc, key, output, schemaKind) }
}
