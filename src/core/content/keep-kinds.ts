import * as Y from 'yjs'
import { nearMiss } from '../base/text.ts'
import { type CheckedContent, checkKind } from './replace.ts'
import { contentKeyOf, requireRoot, rootExists, rootNames, shownName } from './roots.ts'
import { type ContentSchema, kindOfSchema } from './schemas/compiled-schema.ts'
import { checkRepresentable } from './unsupported-content.ts'
import { putItem } from './values/write-edits.ts'
import {
  type KnownKind,
  kindEntry,
  needsStoredKind,
  nextKindLength,
  rootKind,
  type SharedRoot,
} from './yjs/root-kind.ts'
import type { RootReplacement } from './yjs/root-replacement.ts'

/** Stores the kind of a root in the document. The stored kind takes about 30 bytes. */
function storeKind(transaction: Y.Transaction, root: SharedRoot, kind: KnownKind): void {
  const key = kindEntry(kind)
  const left = root._map.get(key) ?? null
  putItem(transaction, { type: root, key, left, right: null }, new Y.ContentDeleted(nextKindLength(root)))
}

/**
 * Runs `change` in one transaction. If a root is empty afterwards and nothing else shows its kind, stores the
 * kind.
 * @param kinds the kinds of the roots, by root name
 */
export const keepingKinds = <Result extends RootReplacement>(
  doc: Y.Doc,
  kinds: ReadonlyMap<string, KnownKind>,
  change: () => Result,
): Result =>
  doc.transact((transaction) => {
    const changed = change()
    let isStored = false
    for (const [name, kind] of kinds) {
      const root = doc.share.get(name) ?? doc.get(name)
      if (!needsStoredKind(root, kind, changed.changed)) continue
      storeKind(transaction, root, kind)
      isStored = true
    }
    return isStored ? { ...changed, changed: true } : changed
  })

/** Returns the kind of each root that has a kind, by root name. */
export function kindsIn(doc: Y.Doc): ReadonlyMap<string, KnownKind> {
  const kinds = new Map<string, KnownKind>()
  for (const contentKey of doc.share.keys()) {
    const kind = rootKind(doc, contentKey)
    if (kind !== 'none') kinds.set(contentKey, kind)
  }
  return kinds
}

/**
 * Replaces content like `replaceContent`, and stores the kind of a root that is empty afterwards. An empty
 * text without `contentKey` does not create a root. An editor that connects later may then use a root with
 * another name, which is the only root of the document. A new root in a document with other roots needs `newRoot`.
 * @param schema the schema of the root; null without one
 * @throws ApiError NOT_FOUND if the document has other roots, and the root is not to be created
 */
export function replaceKeepingKind(
  doc: Y.Doc,
  content: CheckedContent,
  schema: ContentSchema | null = null,
): RootReplacement {
  const { target, type } = content
  const contentKey = contentKeyOf(doc, target.contentKey)
  const isNew = !rootExists(doc, contentKey)
  if (target.newRoot !== true) requireRoot(doc, contentKey, target.contentKey, '; newRoot: true creates it')
  const meant = isNew ? nearMiss(contentKey, rootNames(doc)) : null
  const kind = type.kindOf(doc, contentKey, schema === null ? undefined : kindOfSchema(schema))
  const isOpen = kind === 'text' && target.contentKey === undefined && isNew
  const kinds = new Map(isOpen ? [] : [[contentKey, kind]])
  checkKind(doc, target, kind)
  checkRepresentable(doc, contentKey, kind)
  const replace = (): RootReplacement => ({
    ...content.replace(doc, contentKey, schema),
    contentKey,
    kind,
  })
  const result = keepingKinds(doc, kinds, replace)
  if (!isNew || !rootExists(doc, contentKey)) return result
  const warning = `created the root ${shownName(contentKey)}; did you mean`
  return {
    ...result,
    createdRoot: contentKey,
    ...(meant !== null && { warnings: [`${warning} ${shownName(meant)}?`] }),
  }
}
