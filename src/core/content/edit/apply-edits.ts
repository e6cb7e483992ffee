import * as Y from 'yjs'
import { type TextOfBlocks, withEmptinessWarning } from '../blocks/block-format.ts'
import { isQuill } from '../blocks/quill/quill-dialect.ts'
import { withPlace } from '../content-error.ts'
import type { Json } from '../json/json.ts'
import { keepingKinds } from '../keep-kinds.ts'
import { requireRoot, shownName } from '../roots.ts'
import { type ContentSchema, kindOfSchema } from '../schemas/compiled-schema.ts'
import { checkRepresentable } from '../unsupported-content.ts'
import { isRichTextElement, isRichTextRoot } from '../xml/observed-schema.ts'
import { type KnownKind, type RootKind, rootKind, type SharedRoot } from '../yjs/root-kind.ts'
import { editName } from './check-edits.ts'
import { DependencyRecorder } from './dependency-recorder.ts'
import type {
  CheckedEdit,
  Edit,
  EditedContent,
  EditOutcome,
  EditTarget,
  GivenContent,
  InsertedContent,
  JsonPatchOperation,
} from './edit.ts'
import { editNotSupported } from './edit-errors.ts'
import { applyPatch } from './patch/apply-patch.ts'
import { spendOnPatch } from './patch/patch-work.ts'
import { patchOfInsertion } from './patch/path-edits.ts'
import type { ElementIndex } from './targets/element-index.ts'
import { applyTextEdit, type EditedRoot } from './text-edit.ts'
import { WorkLimit } from './work-limit.ts'

interface ApplyOptions {
  /** The root that the caller has specified, if any. */
  readonly given: string | undefined
  /** The schema in whose form content is written; null without one. */
  readonly schema: ContentSchema | null
  /** Whether the result names the content on which the edits depend. */
  readonly merged: boolean
  /** Limits the work of a single edit. */
  readonly work?: WorkLimit | undefined
  /** The elements of an XML root, kept until the root changes; undefined: an edit reads them. */
  readonly index?: ElementIndex | undefined
}

/**
 * Applies edits to a root, in order and in one transaction. If an edit fails, earlier edits of the call stay
 * in `doc`: the caller must then discard `doc`, unless the call has only one edit.
 * @throws ApiError INVALID_ARGUMENT if the root does not support an edit; FAILED_PRECONDITION if the target of
 * an edit is missing or ambiguous, or if a patch fails; NOT_FOUND if the root does not exist; WorkLimitError
 */
export function applyEdits(
  doc: Y.Doc,
  contentKey: string,
  edits: readonly CheckedEdit[],
  { given, merged, schema, work = new WorkLimit(), index }: ApplyOptions,
): EditedContent {
  requireRoot(doc, contentKey, given)
  index?.read(work)
  const known = index?.isRegular() === true ? index : null
  const kind =
    known === null ? kindFor(rootKind(doc, contentKey), edits[0], contentKey, schema?.is === 'nodes') : 'xml'
  if (known === null) checkRepresentable(doc, contentKey, kind)
  const apply = (transaction: Y.Transaction): EditedContent => {
    const root = doc.share.get(contentKey) ?? doc.get(contentKey)
    const recorder = merged ? new DependencyRecorder(transaction, contentKey) : null
    const formatted = edits.map((given) =>
      withFormat(given, () => isRichText(root, kind, contentKey, schema)),
    )
    const outcomes = formatted.map((edit, index) => {
      const place = editName(index)
      const at = { transaction, root, kind, contentKey, place, schema, recorder, work, index: known }
      const outcome = withPlace(place, () => applyEdit(at, edit), { edit: index })
      recorder?.end(edit)
      return outcome
    })
    const result = {
      contentKey,
      kind,
      edits: outcomes,
      changed: outcomes.some(({ changed }) => changed),
      insertions: sum(outcomes.map(({ insertions }) => insertions)),
      deletions: sum(outcomes.map(({ deletions }) => deletions)),
      ...(recorder !== null && { dependencies: recorder.dependencies() }),
    }
    return withEmptinessWarning(result, formatted.map(sourceOf))
  }
  return keepingKinds(doc, new Map([[contentKey, kind]]), () => doc.transact(apply))
}

/** Returns the Markdown or HTML of an edit; null without it. */
function sourceOf(edit: Edit): TextOfBlocks | null {
  if (edit.is !== 'replace' && edit.is !== 'insert') return null
  return edit.content.format === 'nodes' ? edit.content.source : null
}

function applyEdit(at: EditedRoot<KnownKind>, edit: Edit): EditOutcome {
  const { transaction, root, kind, place, work } = at
  if (kind !== 'map' && kind !== 'array') return applyTextEdit({ ...at, kind }, edit)
  const operations = patchOf(edit, kind, at)
  spendOnPatch(work, transaction.doc, root, kind, operations)
  const placeOfPatch = edit.is === 'patch' ? `${place}.patch` : place
  return applyPatch(transaction, root, kind, operations, placeOfPatch)
}

/**
 * Returns the operations of JSON Patch that carry out an edit of a map or an array.
 * @throws ApiError INVALID_ARGUMENT if there are none
 */
function patchOf(
  edit: Edit,
  kind: 'map' | 'array',
  { place, root, contentKey }: EditedRoot<KnownKind>,
): readonly JsonPatchOperation[] {
  if (edit.is === 'patch') return edit.operations
  const path = pathOf(edit)
  if (path !== null && edit.is === 'remove') return [{ op: 'remove', path }]
  if (path !== null && edit.is === 'replace')
    return [{ op: 'replace', path, value: jsonIn(edit.content, place) }]
  if (path !== null && edit.is === 'insert')
    return patchOfInsertion(root, kind, path, edit.place.at, jsonIn(edit.content, place))
  throw editNotSupported(
    `${place}: the root ${shownName(contentKey)} is of type "${kind}"; send a patch, or a target with path`,
  )
}

/**
 * Returns the path of the target of an edit; null if the edit has no such target. An insertion at an end of
 * the root has the path of the root.
 */
function pathOf(edit: Edit): readonly string[] | null {
  if (edit.is === 'insert') return 'target' in edit.place ? pathIn(edit.place.target) : []
  return edit.is === 'replace' || edit.is === 'remove' ? pathIn(edit.target) : null
}

const pathIn = (target: EditTarget): readonly string[] | null => (target.is === 'path' ? target.path : null)

function jsonIn(content: InsertedContent, place: string): Json {
  if (content.format === 'value') return content.value
  if (content.format === 'text') return content.text
  throw editNotSupported(
    `${place}: a map or an array needs a JSON value, not rich text; send the content without format`,
  )
}

/**
 * Returns the kind as which a root is edited. An empty root without a kind gets the kind of the content that
 * the first edit inserts. If the root has a schema or a name of rich text, text becomes paragraphs.
 */
export function kindFor(
  kind: RootKind,
  first: CheckedEdit | undefined,
  contentKey: string,
  hasNodes: boolean,
): KnownKind {
  if (kind !== 'none') return kind
  if (first?.is === 'text') return 'text'
  if (first?.is === 'insert' && (first.content.format === 'text' || first.content.format === 'default'))
    return hasNodes || isRichTextRoot(contentKey) ? 'xml' : 'text'
  if (first?.is === 'insert' && first.content.format === 'nodes') return 'xml'
  throw editNotSupported(
    `${editName(0)}: the root ${shownName(contentKey)} is empty and has no type; insert content, or use /v2/crdt/update`,
  )
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/** Matches text that Markdown can read as something else than one line of this text. */
const syntax = /[\\`*_~#>|<&[\]!+=\r\n-]|^\s|\s$|\d[.)]|www\.|:\/\/|@/

/**
 * Returns an edit whose content has a format. The default of a string is Markdown in rich text, and text in all
 * other roots.
 * @throws ApiError INVALID_ARGUMENT if the Markdown exceeds a limit
 */
export function withFormat(edit: CheckedEdit, isRich: () => boolean): Edit {
  if (edit.is === 'replace') return { ...edit, content: formatted(edit.content, isRich) }
  return edit.is === 'insert' ? { ...edit, content: formatted(edit.content, isRich) } : edit
}

function formatted(content: GivenContent, isRich: () => boolean): InsertedContent {
  if (content.format !== 'default') return content
  const { text } = content
  const isMarkdown = text.trim() !== '' && syntax.test(text) && isRich()
  return isMarkdown ? content.asMarkdown() : { format: 'text', text }
}

/** Returns whether a root has rich text for which Markdown can be written. */
function isRichText(
  root: SharedRoot,
  kind: KnownKind,
  contentKey: string,
  schema: ContentSchema | null,
): boolean {
  if (kind === 'text') return isQuill(root, contentKey, schema === null ? undefined : kindOfSchema(schema))
  return kind === 'xml' && (schema !== null || isRichTextRoot(contentKey) || hasRichText(root))
}

/** Returns whether XML has formatting, or an element that only rich text has. */
function hasRichText(type: SharedRoot): boolean {
  for (let item = type._start; item !== null; item = item.right) {
    if (item.deleted) continue
    const { content } = item
    if (content instanceof Y.ContentFormat) return true
    if (!(content instanceof Y.ContentType)) continue
    const child: unknown = content.type
    if (child instanceof Y.XmlElement && isRichTextElement(child.nodeName)) return true
    if (hasRichText(content.type)) return true
  }
  return false
}
