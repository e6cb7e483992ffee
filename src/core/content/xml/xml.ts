import type * as Y from 'yjs'
import { invalidContent } from '../content-error.ts'
import { jsonTypeName } from '../json/json.ts'
import type { CompiledSchema } from '../schemas/compiled-schema.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { applyToRoot, type PlannedUpdate, type RootReplacement } from '../yjs/root-replacement.ts'
import { budgetFor, type XmlBudget } from './budget.ts'
import { type ParsedElement, parseXml } from './parse.ts'
import { readTree, XmlScope } from './read-tree.ts'
import { type TargetTree, type TypedElement, targetTree, typedTree } from './target-tree.ts'
import { XmlUpdater } from './updater.ts'
import { jsonValues, type ValueCodec, xmlValues } from './value-codec.ts'

/**
 * Checks that the `data` of an XML target is a well-formed fragment.
 * @throws ApiError INVALID_ARGUMENT with the problem and its position
 */
export function checkXml(data: unknown): ParsedElement {
  if (typeof data !== 'string')
    throw invalidContent(`data must be a string for type "xml", not ${jsonTypeName(data)}`)
  return parseXml(data)
}

/**
 * Makes the elements and texts of the root `contentKey` equal to the parsed XML, with few and small
 * operations. Equal content keeps its identity and the cursors in it, and elements of the same name are
 * updated in place. If the root is already equal, nothing changes. Content that XML cannot express (embeds,
 * hooks) stays.
 */
export const replaceXml = (
  doc: Y.Doc,
  contentKey: string,
  parsed: ParsedElement,
  schema: CompiledSchema | null = null,
): RootReplacement =>
  applyToRoot(doc, contentKey, planXml(doc.share.get(contentKey), contentKey, parsed, undefined, schema))

/**
 * Makes the elements and texts of the root `contentKey` equal to a target whose attributes have types, like
 * `replaceXml`. An attribute whose value is null counts as absent.
 */
export const replaceTyped = (
  doc: Y.Doc,
  contentKey: string,
  target: TypedElement,
  schema: CompiledSchema | null = null,
): RootReplacement =>
  applyToRoot(
    doc,
    contentKey,
    planTree(doc.share.get(contentKey), contentKey, typedTree(target), { schema, values: jsonValues }),
  )

/**
 * Makes the root equal to the same root of another document, like `replaceXml`. Names, marks and types of
 * values are taken from both documents.
 */
export const restoreXml = (doc: Y.Doc, contentKey: string, past: Y.Doc): RootReplacement =>
  applyToRoot(doc, contentKey, planXmlOf(doc.share.get(contentKey), contentKey, past.share.get(contentKey)))

/**
 * Compares a root or a nested fragment with parsed XML, without changing the document. Returns the update
 * that makes them equal; null if they are equal already. `contentKey` indicates the kind of editor.
 * @throws ApiError INVALID_ARGUMENT if the target is too large
 */
export const planXml = (
  type: SharedRoot | undefined,
  contentKey: string,
  parsed: ParsedElement,
  effort?: XmlBudget,
  schema: CompiledSchema | null = null,
): PlannedUpdate | null => planTree(type, contentKey, targetTree(parsed), { effort, schema })

/** Compares a root or fragment with another root or fragment, like `planXml`. */
export const planXmlOf = (
  type: SharedRoot | undefined,
  contentKey: string,
  past: SharedRoot | undefined,
  effort?: XmlBudget,
): PlannedUpdate | null => planTree(type, contentKey, (scope) => readTree(past, scope).root, { effort })

interface TreeOptions {
  readonly effort?: XmlBudget | undefined
  /** The form of the values in the tree; default: the form of XML. */
  readonly values?: ValueCodec
  /** The schema in whose normal form new nodes and marks are written; null without one. */
  readonly schema?: CompiledSchema | null
}

/** Compares a root or fragment with the tree into which a format converts its target, like `planXml`. */
export function planTree(
  type: SharedRoot | undefined,
  contentKey: string,
  targetIn: TargetTree,
  { effort, values = xmlValues, schema = null }: TreeOptions = {},
): PlannedUpdate | null {
  const scope = new XmlScope(contentKey, values, schema)
  const { root, items } = readTree(type, scope)
  const target = targetIn(scope, root)
  if (root.number === target.number) return null
  return (transaction, live) => {
    const updater = new XmlUpdater(transaction, scope, effort ?? budgetFor(items))
    updater.update({ ...root, type: live }, target)
    return { changed: true, insertions: updater.insertions, deletions: updater.deletions }
  }
}
