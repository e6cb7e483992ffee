import type { ComponentChildren } from 'preact'
import type { CrdtUpdateData } from '../../../client/api/operation-types.ts'
import { Button } from '../../ui/controls.tsx'
import { formatCounted } from '../../ui/format.ts'
import { Notice } from '../../ui/notice.tsx'

/** Changes that a replacement or a restoration has made. For a dry run, the changes that it would make. */
export type EditSummary = Pick<CrdtUpdateData, 'changed' | 'insertions' | 'deletions' | 'bytes'>

/** Describes the changes, for example `3 units inserted, 1 unit deleted, an update of 40 bytes`. */
export const formatEditSummary = ({ insertions, deletions, bytes }: EditSummary): string =>
  `${formatCounted(insertions, 'unit')} inserted, ${formatCounted(deletions, 'unit')} deleted, an update of ${formatCounted(bytes, 'byte')}`

interface DryRunResultProps {
  readonly written: EditSummary
  /** Label of the button that makes the change. */
  readonly action: string
  readonly busy: boolean
  readonly onApply: () => void
  /** The comparison of the content before and after the change. */
  readonly children?: ComponentChildren
}

/** Shows the changes of a dry run, and lets the user make them. */
export function DryRunResult({ written, action, busy, onApply, children }: DryRunResultProps) {
  if (!written.changed) return <Notice>This would change nothing.</Notice>
  return (
    <>
      <Notice>This would be changed: {formatEditSummary(written)}.</Notice>
      {children}
      <p>
        <Button kind="primary" busy={busy} onClick={onApply}>
          {action}
        </Button>
      </p>
    </>
  )
}
