import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Button } from './controls.tsx'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  readonly onClose: () => void
}

/** Shows a modal dialog. The browser keeps the focus in the dialog, and the Escape key closes it. */
export function Dialog({ title, children, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Closes the dialog before its element is removed from the page. Afterwards, the browser could no longer
  // restore the focus.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  readonly title: string
  /** Describes the effect of the action. */
  readonly children: ComponentChildren
  /** Label that describes the action, such as `Delete 3 documents`. */
  readonly action: string
  readonly busy?: boolean
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks the user to confirm an action that cannot be undone. */
export const ConfirmDialog = ({ title, children, action, busy, onConfirm, onClose }: ConfirmProps) => (
  <Dialog title={title} onClose={onClose}>
    {children}
    <p class="row">
      <Button onClick={onClose}>Cancel</Button>
      <Button kind="danger" busy={busy === true} onClick={onConfirm}>
        {action}
      </Button>
    </p>
  </Dialog>
)
