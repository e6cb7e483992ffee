/** One state of a document: which log of it, and the number of the last update in it. */
export interface Version {
  readonly epoch: number
  readonly seq: number
}

/** Names a version: opaque to callers. */
export const versionOf = ({ epoch, seq }: Version): string => `${epoch}.${seq}`

/** What `versionOf` was given; null for a string that it never makes. */
export function parseVersion(version: string): Version | null {
  const [, epoch, seq] = /^(\d{1,15})\.(\d{1,15})$/.exec(version) ?? []
  return epoch === undefined || seq === undefined ? null : { epoch: Number(epoch), seq: Number(seq) }
}
