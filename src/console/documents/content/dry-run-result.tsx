import type { ComponentChildren } from 'preact'
import { Button } from '../../ui/controls.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type EditSummary, formatEditSummary } from './edit-summary.ts'

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
