import { formatTime } from '../../ui/format.ts'

/** A version, as `/v2/crdt/versions/list` returns it. */
export interface VersionSummary {
  readonly versionId: string
  readonly kind: 'manual' | 'automatic'
  /** Label of the version; '' if it has none. */
  readonly label: string
  readonly createdAt: string
  readonly createdBy: string
  readonly sizeBytes: number
  readonly authors: readonly { readonly userId: string; readonly name?: string }[]
}

/** Returns a title for a version: its label, or the time of its creation. */
export const versionTitle = ({ label, createdAt }: Pick<VersionSummary, 'label' | 'createdAt'>): string =>
  label || `the version of ${formatTime(createdAt)}`
