import { ApiError } from '../../errors.ts'
import { parseVersion, type Version } from '../../model/version.ts'
import { type EditContext, presentVersion } from './edit-context.ts'

/**
 * The version that a change is to be made to; null when it is to be made to the document as it is: also where that is
 * what `baseVersion` says.
 * @throws ApiError FAILED_PRECONDITION when `baseVersion` is none of this document
 */
export function resolveBase(
  room: EditContext,
  { baseVersion }: { readonly baseVersion?: string | undefined },
): Version | null {
  if (baseVersion === undefined) return null
  const base = parseVersion(baseVersion)
  const present = presentVersion(room)
  if (base === null || room.commits.existence !== 'live' || base.epoch !== present.epoch)
    throw baseVersionExpired()
  return base.seq === present.seq ? null : base
}

/** The size that a copy of the document may reach: what came since the version it is a copy of takes room too. */
export const copySizeMax = ({ state, documentBytesMax }: EditContext, copyBytes: number): number =>
  documentBytesMax - Math.max(0, state.sizeBytes - copyBytes)

export const baseVersionExpired = (): ApiError =>
  new ApiError('crdt/base-version-too-old', 'baseVersion is unknown or too old: read the document again')
