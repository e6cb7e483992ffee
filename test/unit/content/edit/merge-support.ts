import * as Y from 'yjs'
import { ApiError } from '../../../../src/core/base/errors.ts'
import type { EditRequest } from '../../../../src/core/content/edit/check-edits.ts'
import { checkMerge } from '../../../../src/core/content/merge-check.ts'
import type { ReplacementResult } from '../../../../src/core/content/replacement-result.ts'
import { checkChange, mergeTargetOf } from '../../../../src/core/content/root-change.ts'
import { loaded, updatesOf } from '../support.ts'

/** The last client id with which edits were written. */
let lastWriter = 1_000

/**
 * Applies edits to `base` as the server does for a base version, and merges them into `live`. Returns whether
 * `live` has lacked the change.
 * @throws ApiError if the edits are rejected; `live` is unchanged then
 */
export function mergeEdits(live: Y.Doc, base: Y.Doc, contentKey: string, edits: EditRequest[]): boolean {
  const past = loaded(base, ++lastWriter)
  const { change, apply } = checkChange({ contentKey, edits, merged: true })
  let result: ReplacementResult | undefined
  const [update] = updatesOf(past, () => {
    result = apply(past)
  })
  if (update === undefined || result === undefined) return false
  if (!checkMerge(live, mergeTargetOf(change, result))) return false
  return updatesOf(live, () => Y.applyUpdate(live, update)).length > 0
}

/** Returns the code, the index of the edit and the message of the error that `act` throws. */
export function rejectionIn(act: () => unknown): { code: string; edit: unknown; message: string } {
  try {
    act()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { code: error.code, edit: error.details?.edit, message: error.message }
  }
  throw new Error('the edits were accepted')
}
