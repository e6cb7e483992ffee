import { ApiError } from '../base/errors.ts'

/** Identifies one state of a document: the epoch of its log, and the sequence number of the last update. */
export interface Version {
  readonly epoch: number
  readonly seq: number
}

/** Formats a version as a string, which is opaque to callers. */
export const versionOf = ({ epoch, seq }: Version): string => `${epoch}.${seq}`

/**
 * Parses the string form of a version. Returns null if the string does not have the form that `versionOf`
 * returns.
 */
export function parseVersion(version: string): Version | null {
  const [, epoch, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(version) ?? []
  return epoch === undefined || seq === undefined ? null : { epoch: Number(epoch), seq: Number(seq) }
}

/** The error of a change whose base version cannot be rebuilt, or is from before the last prune. */
export const baseVersionExpired = (): ApiError =>
  new ApiError('crdt/base-version-too-old', 'baseVersion is unknown or too old: read the document again')
