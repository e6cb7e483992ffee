import { formatCounted } from '../../ui/format.ts'

/** Changes of a replacement or a restoration, executed or as a dry run. */
export interface EditSummary {
  readonly version: string
  readonly changed: boolean
  readonly bytes: number
  readonly insertions: number
  readonly deletions: number
}

/** Such as `3 units inserted, 1 unit deleted, an update of 40 bytes`. */
export const formatEditSummary = ({ insertions, deletions, bytes }: EditSummary): string =>
  `${formatCounted(insertions, 'unit')} inserted, ${formatCounted(deletions, 'unit')} deleted, an update of ${formatCounted(bytes, 'byte')}`
