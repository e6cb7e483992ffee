import type * as Y from 'yjs'
import { applyEdits } from './edit/apply-edits.ts'
import { checkEdits, type EditRequest } from './edit/check-edits.ts'
import type { EditedContent } from './edit/edit.ts'
import type { ElementIndex } from './edit/targets/element-index.ts'
import type { WorkLimit } from './edit/work-limit.ts'
import { replaceKeepingKind } from './keep-kinds.ts'
import type { MergeTarget } from './merge-check.ts'
import { type ContentTarget, checkContent, checkContentKey, checkTarget } from './replace.ts'
import { contentKeyOf } from './roots.ts'
import type { ContentSchema } from './schemas/compiled-schema.ts'
import { checkAgainstSchema, type NamedSchema, schemaOf, violationKeys } from './schemas/content-schema.ts'
import { changeWithWarnings, unknownNamesError } from './schemas/unknown-names.ts'

interface RequestedEdits {
  /** As in `ContentTarget`. */
  readonly contentKey?: string | undefined
  readonly edits: readonly EditRequest[]
  /** True if the edits are merged into a later version, so that the result must name their dependencies. */
  readonly merged?: boolean
}

/** A change of one root: its whole new content, or edits of its content. */
export type RootChange = (ContentTarget | RequestedEdits) & {
  /** The schema that the root must match after the change. */
  readonly schema?: NamedSchema
  /** Treatment of names in rich text that the change adds and no preset has; absent: the names are accepted. */
  readonly unknownNames?: 'warn' | 'reject'
}

export interface ApplyHow {
  /** The schema in whose form content is written, if the change has none of its own. */
  readonly schema?: ContentSchema | null
  /** Limits the work of an edit, if the change is atomic. */
  readonly work?: WorkLimit | undefined
  /** The elements of the root, as in `ApplyOptions`. */
  readonly index?: ElementIndex | undefined
}

/** A change that has passed all checks that need no document. */
export interface CheckedChange {
  readonly change: RootChange
  /**
   * Applies the change in one transaction. A root that becomes empty keeps its kind.
   * @throws ApiError if the document does not permit the change; if `isAtomic`, nothing is changed then,
   * otherwise the document must be discarded; WorkLimitError, and nothing is changed then
   */
  readonly apply: (doc: Y.Doc, how?: ApplyHow) => EditedContent
  readonly isAtomic: boolean
}

/** Runs all checks that need no document. @throws ApiError INVALID_ARGUMENT */
export function checkChange(change: RootChange): CheckedChange {
  const checked = checkWithoutSchema(withData(change))
  if (change.schema !== undefined) return checkingSchema(checked, change.schema)
  return change.unknownNames === undefined ? checked : checkingNames(checked, change.unknownNames)
}

/** Returns the change with its data parsed, if the data is encoded. */
const withData = (change: RootChange): RootChange =>
  !isEdits(change) && change.data instanceof Uint8Array
    ? { ...change, data: JSON.parse(new TextDecoder().decode(change.data)) as unknown }
    : change

/** Returns the change with its data as JSON in UTF-8, which can be sent to a thread without parsing it. */
export const encodeData = (target: ContentTarget): ContentTarget =>
  target.data === undefined
    ? target
    : { ...target, data: new TextEncoder().encode(JSON.stringify(target.data)) }

/** Adds a schema to a change. @throws ApiError INVALID_ARGUMENT if the schema is invalid */
export const withSchema = (prepared: PreparedChange, schema: NamedSchema): PreparedChange => ({
  ...prepared,
  change: { ...prepared.change, schema },
  checked: prepared.checked === null ? null : checkingSchema(prepared.checked, schema),
})

/** Adds the treatment of names that no preset has to a change that has no schema. */
export const withUnknownNames = (
  prepared: PreparedChange,
  unknownNames: 'warn' | 'reject',
): PreparedChange => ({
  ...prepared,
  change: { ...prepared.change, unknownNames },
  checked: prepared.checked === null ? null : checkingNames(prepared.checked, unknownNames),
})

/** Returns the change with a root, unless the caller has specified one. */
export function withDefaultRoot(prepared: PreparedChange, contentKey: string): PreparedChange {
  if (prepared.change.contentKey !== undefined) return prepared
  const change = { ...prepared.change, contentKey }
  return { ...prepared, change, checked: prepared.checked === null ? null : checkChange(change) }
}

/** The schema is checked after the change, so the change is not atomic. */
function checkingSchema({ change, apply }: CheckedChange, named: NamedSchema): CheckedChange {
  const schema = schemaOf(named)
  return {
    change: { ...change, schema: named },
    apply: (doc, how) => matchingSchema(doc, change.contentKey, named, () => apply(doc, { ...how, schema })),
    isAtomic: false,
  }
}

/**
 * Runs `work`, which changes a document, and checks the schema of its root afterwards.
 * @param isMerge true if `work` merges a checked change, and can restore content of the document
 * @throws ApiError INVALID_ARGUMENT if the change breaks the schema; the document must then be discarded
 */
export function matchingSchema<Result extends EditedContent>(
  doc: Y.Doc,
  contentKey: string | undefined,
  named: NamedSchema,
  work: () => Result,
  isMerge = false,
): Result {
  const schema = schemaOf(named)
  const before = named.isAttached
    ? violationKeys(doc, contentKeyOf(doc, contentKey), schema, isMerge)
    : undefined
  const result = work()
  const key = result.contentKey ?? contentKeyOf(doc, contentKey)
  const older = checkAgainstSchema(doc, key, schema, named.name, before)
  // A change that was made for an older version has the warnings of that version already.
  return older.length === 0
    ? result
    : { ...result, warnings: [...new Set([...(result.warnings ?? []), ...older])] }
}

/** The names are checked after the change. A change that they can reject is not atomic. */
const checkingNames = (
  { change, apply, isAtomic }: CheckedChange,
  unknownNames: 'warn' | 'reject',
): CheckedChange => ({
  change: { ...change, unknownNames },
  apply: (doc, how) => {
    const { result, warnings } = changeWithWarnings(
      doc,
      () => apply(doc, how),
      ({ contentKey }) => contentKey ?? contentKeyOf(doc, change.contentKey),
    )
    if (warnings.length === 0) return result
    if (unknownNames === 'reject') throw unknownNamesError(warnings)
    return { ...result, warnings: [...(result.warnings ?? []), ...warnings] }
  },
  isAtomic: isAtomic && unknownNames === 'warn',
})

function checkWithoutSchema(change: RootChange): CheckedChange {
  if (!isEdits(change)) {
    const content = checkContent(change)
    return { change, apply: (doc, how) => replaceKeepingKind(doc, content, how?.schema), isAtomic: true }
  }
  checkKeyOf(change)
  const edits = checkEdits(change.edits)
  const apply: CheckedChange['apply'] = (doc, { schema = null, work, index } = {}) =>
    applyEdits(doc, contentKeyOf(doc, change.contentKey), edits, {
      given: change.contentKey,
      merged: change.merged === true,
      schema,
      work,
      index,
    })
  return { change, apply, isAtomic: edits.length === 1 }
}

/** Returns whether a change consists of edits. */
export const isEdits = (change: RootChange): change is RequestedEdits => 'edits' in change

/** Returns how often a change reads the whole content of its root: each edit reads it to find its target. */
export const passesOf = (change: RootChange): number => (isEdits(change) ? change.edits.length : 1)

/** Returns the content of a change, from which its size is computed. */
export const contentOfChange = (change: RootChange): unknown => (isEdits(change) ? change.edits : change.data)

/** Returns the part of a document that a change has used. */
export function mergeTargetOf(
  change: RootChange,
  { contentKey, kind = 'text', dependencies = { edits: [], inserted: [] } }: EditedContent,
): MergeTarget {
  const type = isEdits(change) ? kind : change.type
  return { target: { type, contentKey }, kind, dependencies }
}

/** A change that is ready to be applied to a document. */
export interface PreparedChange {
  readonly change: RootChange
  /**
   * Approximate size of the content in characters. Markdown and HTML count several times, because parsing them
   * is expensive. Counting stops when the size exceeds the limit.
   */
  readonly size: number
  /** Null if the content is large. The thread that makes the change then also runs the checks. */
  readonly checked: CheckedChange | null
}

/**
 * Runs the inexpensive part of `checkChange`. If the content has at most `sizeMax` characters and is not encoded,
 * runs all checks.
 * @throws ApiError INVALID_ARGUMENT
 */
export function prepareChange(change: RootChange, sizeMax: number): PreparedChange {
  if (!isEdits(change) && change.data instanceof Uint8Array) {
    checkTarget(change)
    return { change, size: change.data.length, checked: null }
  }
  const size = sizeOf(contentOfChange(change), sizeMax) + parsingOf(change, sizeMax)
  if (size <= sizeMax) return { change, size, checked: checkChange(change) }
  if (isEdits(change)) checkKeyOf(change)
  else checkTarget(change)
  return { change, size, checked: null }
}

/** Returns the size that stands for the parsing of Markdown and HTML. Stops when it exceeds `sizeMax`. */
function parsingOf(change: RootChange, sizeMax: number): number {
  if (!isEdits(change)) return parsingCost(change.type, change.data, sizeMax)
  let cost = 0
  for (const { replace, insert } of change.edits) {
    // Without a format, a string can be Markdown.
    cost += parsingCost(replace?.format ?? 'markdown', replace?.with, sizeMax)
    cost += parsingCost(insert?.format ?? 'markdown', insert?.content, sizeMax)
    if (cost > sizeMax) break
  }
  return cost
}

/** How often a character of Markdown or HTML counts. Some texts take 20 ms per 1,000 characters. */
const parsedWeight = 16

function parsingCost(format: unknown, content: unknown, sizeMax: number): number {
  if (typeof content !== 'string' || !(format === 'markdown' || format === 'html')) return 0
  const cost = content.length * parsedWeight
  return format === 'html' || cost > sizeMax ? cost : cost + cellsIn(content) * valueSize
}

/**
 * Returns an upper bound of the cells of the tables in Markdown. A row of a table can be shorter than its
 * header, and the missing cells are added.
 */
function cellsIn(markdown: string): number {
  let [lines, columns, most] = [1, 0, 0]
  for (let at = 0; at < markdown.length; at++) {
    const unit = markdown.charCodeAt(at)
    if (unit === 0x7c) columns += 1
    if (unit === 0x0a || unit === 0x0d) {
      lines += 1
      columns = 0
    }
    most = Math.max(most, columns)
  }
  return most * lines
}

function checkKeyOf({ contentKey }: RequestedEdits): void {
  if (contentKey !== undefined) checkContentKey(contentKey)
}

/** Assumed size of a value that is not a string, in characters. */
const valueSize = 8

/** Returns the approximate size of a value. Stops when the size exceeds `sizeMax`. */
function sizeOf(data: unknown, sizeMax: number): number {
  const waiting: unknown[] = [data]
  let size = 0
  while (waiting.length > 0 && size <= sizeMax) {
    const value = waiting.pop()
    if (typeof value === 'string') size += value.length
    else size += valueSize
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) for (const key of Object.keys(value)) size += key.length
    // Counts all members before reading them, so that a long list is not read completely.
    const members: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (size + members.length * valueSize > sizeMax) return size + members.length * valueSize
    for (const member of members) waiting.push(member)
  }
  return size
}
