import type * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { jsonTypeName } from '../json/json.ts'
import type { CompiledSchema } from '../schemas/compiled-schema.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { applyToRoot, type PlannedUpdate, type RootReplacement } from '../yjs/root-replacement.ts'
import { budgetFor, type XmlBudget } from './budget.ts'
import { parseXml } from './parse.ts'
import { readTree, XmlScope } from './read-tree.ts'
import { type TargetTree, targetTree } from './target-tree.ts'
import { XmlUpdater } from './updater.ts'
import { xmlValues } from './value-codec.ts'

/**
 * Checks that the `data` of an XML target is a well-formed fragment.
 * @throws ApiError INVALID_ARGUMENT with the problem and its position
 */
export function checkXml(data: unknown): TargetTree {
  if (typeof data !== 'string')
    throw invalidContent(`data must be a string for type "xml", not ${jsonTypeName(data)}`)
  return targetTree(parseXml(data))
}

/**
 * Makes the elements and texts of the root `contentKey` equal to the target, with few and small operations.
 * Equal content keeps its identity and the cursors in it, and elements of the same name are updated in place. If
 * the root is already equal, nothing changes. Content that XML cannot express (embeds, hooks) stays.
 * @param schema the schema in whose normal form new nodes and marks are written; null without one
 */
export const replaceTree = (
  doc: Y.Doc,
  contentKey: string,
  target: TargetTree,
  schema: CompiledSchema | null = null,
): RootReplacement =>
  applyToRoot(doc, contentKey, planTree(doc.share.get(contentKey), contentKey, target, { schema }))

/**
 * Returns a root or fragment of another document as a target. Names, marks and types of values are then taken
 * from both documents.
 */
export const treeOfPast = (past: SharedRoot | undefined): TargetTree => ({
  treeIn: (scope) => readTree(past, scope).root,
  values: xmlValues,
})

interface TreeOptions {
  readonly effort?: XmlBudget | undefined
  /** As for `replaceTree`. */
  readonly schema?: CompiledSchema | null
}

/**
 * Compares a root or a nested fragment with a target, without changing the document. Returns the update that
 * makes them equal; null if they are equal already. `contentKey` indicates the kind of editor.
 * @throws ApiError INVALID_ARGUMENT if the target is too large
 */
export function planTree(
  type: SharedRoot | undefined,
  contentKey: string,
  { treeIn, values }: TargetTree,
  { effort, schema = null }: TreeOptions = {},
): PlannedUpdate | null {
  const scope = new XmlScope(contentKey, values, schema)
  const { root, items } = readTree(type, scope)
  const target = treeIn(scope, root)
  if (root.number === target.number) return null
  return (transaction, live) => {
    const updater = new XmlUpdater(transaction, scope, effort ?? budgetFor(items))
    updater.update({ ...root, type: live }, target)
    return { changed: true, insertions: updater.insertions, deletions: updater.deletions }
  }
}
