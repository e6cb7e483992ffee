import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useAction } from '../api/hooks.ts'
import { Button, TextField } from './controls.tsx'
import { Form } from './form.tsx'
import { ErrorNotice } from './notice.tsx'

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
  /** Text of the button that opens the dialog. */
  readonly action: string
  /** Label of this button for screen readers, if the text does not describe the action sufficiently. */
  readonly label?: string
  readonly title: string
  /** Describes the effect of the action. */
  readonly children: ComponentChildren
  /** Text of the button that runs the action; by default, that of the button that opens the dialog. */
  readonly confirm?: string
  /** Text that the user must type as confirmation. Used for actions with serious effects. */
  readonly typed?: string
  /** True if the action loses no data. */
  readonly harmless?: boolean
  readonly act: () => Promise<unknown>
}

/**
 * Shows a button for an action that cannot be undone. A click opens a dialog that asks for confirmation and
 * then runs the action. After an error, the dialog stays open.
 */
export function ConfirmButton({
  action,
  label,
  title,
  children,
  typed,
  harmless,
  act,
  confirm = action,
}: ConfirmProps) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const doing = useAction(async () => {
    await act()
    setOpen(false)
    setText('')
  })
  return (
    <>
      <Button
        kind={harmless ? 'plain' : 'danger'}
        onClick={() => setOpen(true)}
        {...(label !== undefined && { label })}
      >
        {action}
      </Button>
      {isOpen && (
        <Dialog title={title} onClose={() => setOpen(false)}>
          <Form label={title} onSubmit={() => void doing.run()}>
            {children}
            {typed !== undefined && (
              <TextField label={`Type ${typed} to continue`} value={text} onInput={setText} />
            )}
            <ErrorNotice error={doing.error} />
            <p class="row">
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button
                kind={harmless ? 'primary' : 'danger'}
                type="submit"
                busy={doing.busy}
                disabled={typed !== undefined && text !== typed}
              >
                {confirm}
              </Button>
            </p>
          </Form>
        </Dialog>
      )}
    </>
  )
}

interface FocusedCardProps {
  readonly label: string
  readonly children: ComponentChildren
}

/**
 * Shows a card that the user has opened, for example far down in a list. The card gets the focus, so that the
 * browser scrolls to it.
 */
export function FocusedCard({ label, children }: FocusedCardProps) {
  const card = useRef<HTMLElement>(null)
  useLayoutEffect(() => card.current?.focus(), [])
  return (
    <section class="card" ref={card} tabIndex={-1} aria-label={label}>
      {children}
    </section>
  )
}
