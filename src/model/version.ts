/** One state of a document: the epoch of its log, and the number of its last update. */
export interface Version {
  readonly epoch: number
  readonly seq: number
}

/** Formats a version: opaque to callers. */
export const versionOf = ({ epoch, seq }: Version): string => `${epoch}.${seq}`

/** Parses a version; null for a string that `versionOf` never returns. */
export function parseVersion(version: string): Version | null {
  const [, epoch, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(version) ?? []
  return epoch === undefined || seq === undefined ? null : { epoch: Number(epoch), seq: Number(seq) }
}
