import { type ApiError, invalid } from '../../base/errors.ts'
import { keepingKinds, kindsIn } from '../../content/keep-kinds.ts'
import { mergeChange, NothingMergedError } from '../../content/merge/merge-change.ts'
import type { OverlapPolicy } from '../../content/merge/overlap.ts'
import { readRoot } from '../../content/read-document.ts'
import type { ReplacementResult } from '../../content/replacement-result.ts'
import { restoreContent } from '../../content/restore.ts'
import { type ApplyHow, type CheckedChange, contentOfChange, isEdits } from '../../content/root-change.ts'
import { contentKeyOf, rootExists } from '../../content/roots.ts'
import { expectMatch, type RootSchema } from '../../content/schemas/content-schema.ts'
import { isResponseTooLarge, jsonBytesUpTo } from '../../model/json-pieces.ts'
import { limitDetails } from '../../quota/limits.ts'
import { DocumentState } from '../document/document-state.ts'

/**
 * Share of the size limit. A document that exceeds the limit by at most this share still accepts replacements
 * that do not make it longer.
 */
const replaceableExcess = 0.25

/**
 * Applies a change to a document, unless the document would exceed `bytesMax`.
 * @throws ApiError INVALID_ARGUMENT if the document would be too large; nothing is changed then. Other errors as
 * for `CheckedChange.apply`
 */
export function applyWithinLimit(
  state: DocumentState,
  { change, apply }: CheckedChange,
  bytesMax: number,
  how: ApplyHow = {},
): ReplacementResult {
  const bytes = textBytes(contentOfChange(change))
  if (!isEdits(change)) checkGrowth(state, contentKeyOf(state.doc, change.contentKey), bytes, bytesMax)
  else if (!state.hasRoomFor(bytes, bytesMax)) throw documentTooLarge(state.sizeBytes + bytes, bytesMax)
  return apply(state.doc, how)
}

/** A change that was made in a working copy of an older version. */
interface MadeChange {
  readonly result: ReplacementResult
  /** The update (V1) of the change; null if nothing changes. */
  readonly update: Uint8Array | null
  readonly deletes: boolean
  readonly isDear: boolean
}

/**
 * Makes a change in a working copy of an older version, and merges it into a copy of the document. Both copies write
 * with the same client.
 * @throws ApiError as for `applyWithinLimit` and `mergeChange`; both copies must then be discarded
 */
export function changeAndMerge(
  [past, copy]: readonly [DocumentState, DocumentState],
  checked: CheckedChange,
  { onOverlap, bytesMax }: { readonly onOverlap: OverlapPolicy; readonly bytesMax: number },
): MadeChange {
  const [base, theirs] = [past.encode(), copy.encode()]
  const made = past.edit(() => applyWithinLimit(past, checked, bytesMax))
  const { result, added: update } = made
  if (update === null) return { ...made, update }
  try {
    const { change } = checked
    const merged = copy.edit((doc) =>
      mergeChange(doc, { base, theirs, update }, { change, result, onOverlap }),
    )
    return { ...merged, update: merged.added }
  } catch (error) {
    if (!(error instanceof NothingMergedError)) throw error
    return { result: error.result, update: null, deletes: false, isDear: false }
  }
}

/** Restores the content of `past`, a whole state (V1), in a copy of the document. */
export function restoreIn(copy: DocumentState, past: Uint8Array): ReplacementResult {
  const then = DocumentState.fromBytes(past, { isBounded: copy.isBounded })
  const change = keepingKinds(copy.doc, kindsIn(copy.doc), () => restoreContent(copy.doc, then.doc))
  then.doc.destroy()
  return change
}

/**
 * Runs `work`, which changes a copy of a document, and checks the copy afterwards.
 * @throws ApiError INVALID_ARGUMENT if the copy is larger than `documentBytesMax` and than before, or does not match
 * the schema where it changes; the copy must then be discarded
 */
export function changeWithinLimit(
  copy: DocumentState,
  { documentBytesMax, schema }: { readonly documentBytesMax: number; readonly schema: RootSchema | null },
  work: () => ReplacementResult,
): ReplacementResult {
  const bytesBefore = copy.sizeBytes
  const check = expectMatch(copy.doc, schema)
  const change = work()
  const warnings = change.changed ? check() : []
  const bytes = copy.encode().length
  if (bytes > documentBytesMax && bytes > bytesBefore) throw documentTooLarge(bytes, documentBytesMax)
  return { ...change, warnings }
}

/**
 * Checks that a document stays within `bytesMax` after a replacement. A replacement only adds the difference
 * in length to the previous content, because deleted content takes almost no space. Content that is not
 * longer is also accepted in a document that is slightly above the limit; otherwise a full document could
 * never shrink.
 */
function checkGrowth(state: DocumentState, contentKey: string, bytes: number, bytesMax: number): void {
  if (state.hasRoomFor(bytes, bytesMax)) return
  const growthBytes = Math.max(0, bytes - textBytesUpTo(bytes, state, contentKey))
  if (!state.hasRoomFor(growthBytes, growthBytes > 0 ? bytesMax : bytesMax * (1 + replaceableExcess)))
    throw documentTooLarge(state.sizeBytes + growthBytes, bytesMax)
}

/** Returns the error for content that would exceed the limit of a document. */
export const documentTooLarge = (bytes: number, bytesMax: number): ApiError =>
  invalid(
    'crdt/document-too-large',
    `the content of an editor has at most ${bytesMax} bytes; this content would have ${bytes}: divide it among several editors`,
    limitDetails('maxDocumentBytes', bytesMax),
  )

const textBytes = (data: unknown, bytesMax = Number.POSITIVE_INFINITY): number =>
  typeof data === 'string' ? Buffer.byteLength(data) : jsonBytesUpTo(data, bytesMax)

/**
 * Returns the number of bytes that the current content of the root has as text, but at most `bytesMax`.
 * Counting stops there, because the content can be much longer than the document.
 */
function textBytesUpTo(bytesMax: number, { doc }: DocumentState, contentKey: string): number {
  if (!rootExists(doc, contentKey)) return 0
  try {
    return textBytes(readRoot(doc, contentKey).data, bytesMax)
  } catch (error) {
    if (isResponseTooLarge(error)) return bytesMax
    throw error
  }
}
