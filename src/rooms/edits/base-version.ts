import { ApiError } from '../../errors.ts'
import { parseVersion, type Version } from '../../model/version.ts'
import { type EditContext, presentVersion } from './edit-context.ts'

/**
 * Returns the base version of a change; null if the change starts from the present document, which `baseVersion` may
 * also name.
 * @throws ApiError FAILED_PRECONDITION if `baseVersion` is not a version of this document
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

/** Returns the size that a working copy of the document may reach: the updates since its version also take space. */
export const copySizeMax = ({ state, documentBytesMax }: EditContext, copyBytes: number): number =>
  documentBytesMax - Math.max(0, state.sizeBytes - copyBytes)

export const baseVersionExpired = (): ApiError =>
  new ApiError('crdt/base-version-too-old', 'baseVersion is unknown or too old: read the document again')
