import type * as Y from 'yjs'
import { type ContentSchema, kindOfSchema, nodeSchema } from '../schemas/compiled-schema.ts'
import { structsIn } from '../values/replace-values.ts'
import type { KnownKind, SharedRoot } from '../yjs/root-kind.ts'
import type { DependencyRecorder } from './dependency-recorder.ts'
import type { Edit, EditOutcome, EditTarget } from './edit.ts'
import { editNotSupported } from './edit-errors.ts'
import type { ElementIndex } from './targets/element-index.ts'
import type { FlowView } from './targets/flow-view.ts'
import { readLineView } from './targets/line-view.ts'
import { readNestedView } from './targets/nested-view.ts'
import type { ResolvedTarget } from './targets/resolve.ts'
import { readXmlView } from './targets/xml-view.ts'
import type { WorkLimit } from './work-limit.ts'
import { NestedEdits } from './writing/nested-edits.ts'
import { lineEditsFor } from './writing/quill-edits.ts'
import { XmlEdits } from './writing/xml-edits.ts'

/** Kinds of roots whose content is text with formatting. */
export type TextKind = 'text' | 'xml' | 'xmltext'

/** A root that one edit changes. */
export interface EditedRoot<Kind extends KnownKind = TextKind> {
  readonly transaction: Y.Transaction
  readonly root: SharedRoot
  readonly kind: Kind
  /** Name of the root; it indicates the kind of editor. */
  readonly contentKey: string
  /** Position of the edit in the request, such as `edits[2]`, with which messages begin. */
  readonly place: string
  /** The schema in whose form content is written; null without one. */
  readonly schema: ContentSchema | null
  /** Records the target; null if the edit is not merged into a later version. */
  readonly recorder: DependencyRecorder | null
  /** Limits the work of the edit. */
  readonly work: WorkLimit
  /** The elements of an XML root before the transaction; null: the edit reads them. */
  readonly index: ElementIndex | null
}

/** Steps of reading a root, for each struct of the document. */
const stepsPerStruct = { text: 40, xml: 30, xmltext: 30 } as const satisfies Record<TextKind, number>

/**
 * Applies one edit to a root with text. Resolves the target in the root as it is, and changes nothing if it
 * throws. The Yjs type of the root does not change.
 * @throws ApiError FAILED_PRECONDITION if the target is missing or ambiguous; INVALID_ARGUMENT if a root of
 * this kind does not support the edit; WorkLimitError
 */
export function applyTextEdit(
  { transaction, root, kind, contentKey, place, schema, recorder, work, index }: EditedRoot,
  edit: Edit,
): EditOutcome {
  const { doc } = transaction
  if (kind !== 'xml' && targetIn(edit)?.is === 'row')
    throw editNotSupported(`${place}: a row needs a table of an XML root; use a quote or a block`)
  // Changes of the transaction are not in the index yet.
  const known = transaction.changed.size === 0 ? index : null
  if (known === null) work.spend(structsIn(doc) * stepsPerStruct[kind])
  const resolved = (view: FlowView) => (target: ResolvedTarget) => recorder?.target(view, target)
  if (kind === 'text') {
    const view = readLineView(root, work)
    const schemaKind = schema === null ? undefined : kindOfSchema(schema)
    const target = { view, doc, contentKey, schemaKind, resolved: resolved(view) }
    return lineEditsFor(transaction, target, place, edit).apply(edit)
  }
  if (kind === 'xml') {
    const view = readXmlView(root, work, known ?? undefined)
    const nodes = nodeSchema(schema)
    const target = { view, type: root, doc, contentKey, schema: nodes, resolved: resolved(view) }
    return new XmlEdits(transaction, target, place).apply(edit)
  }
  const view = readNestedView(root, contentKey, work)
  const target = { view, type: root, doc, contentKey, resolved: resolved(view) }
  return new NestedEdits(transaction, target, place).apply(edit)
}

/** Returns the target of an edit; null if it has none. */
function targetIn(edit: Edit): EditTarget | null {
  if (edit.is === 'insert') return 'target' in edit.place ? edit.place.target : null
  return edit.is === 'patch' || edit.is === 'text' ? null : edit.target
}
