import { ApiError } from '../../base/errors.ts'
import type { MatchedPlace } from './edit.ts'

/** Maximum number of candidates that an error names. */
export const candidatesMax = 5

/**
 * Returns the error for a target that the document does not contain. The message ends with a remedy.
 * @param candidates similar places, the most similar first
 */
export function targetNotFound(problem: string, candidates: readonly MatchedPlace[] = []): ApiError {
  const remedy =
    candidates.length > 0
      ? 'send one of details.candidates, or read the document again'
      : 'read the document again'
  return new ApiError('crdt/target-not-found', `${problem}; ${remedy}`, {
    details: { candidates: candidates.slice(0, candidatesMax) },
  })
}

/**
 * Returns the error for a target that the document contains several times.
 * @param candidates the places that match, in the order of the document
 */
export const targetAmbiguous = (problem: string, candidates: readonly MatchedPlace[]): ApiError =>
  new ApiError('crdt/target-ambiguous', problem, {
    details: { candidates: candidates.slice(0, candidatesMax) },
  })

/** Returns the error for an edit that a root of this kind does not support. */
export const editNotSupported = (problem: string): ApiError =>
  new ApiError('crdt/edit-not-supported', problem)

/** Returns the error for a patch whose operation cannot be carried out, or whose test fails. */
export const patchFailed = (problem: string): ApiError => new ApiError('crdt/patch-failed', problem)
