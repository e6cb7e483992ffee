import { formatCounted } from '../../ui/format.ts'

/** Changes that a replacement or a restoration has made. For a dry run, the changes that it would make. */
export interface EditSummary {
  readonly version: string
  readonly changed: boolean
  readonly bytes: number
  readonly insertions: number
  readonly deletions: number
}

/** Describes the changes, for example `3 units inserted, 1 unit deleted, an update of 40 bytes`. */
export const formatEditSummary = ({ insertions, deletions, bytes }: EditSummary): string =>
  `${formatCounted(insertions, 'unit')} inserted, ${formatCounted(deletions, 'unit')} deleted, an update of ${formatCounted(bytes, 'byte')}`
