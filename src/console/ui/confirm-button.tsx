import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../api/hooks.ts'
import { Button, TextField } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { ErrorNotice } from './notice.tsx'

interface AskProps {
  /** Label of the button that opens the dialog. */
  readonly action: string
  readonly title: string
  /** Describes the effect of the action. */
  readonly children: ComponentChildren
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
export function ConfirmButton({ action, title, children, typed, harmless, act }: AskProps) {
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  const doing = useAction(async () => {
    await act()
    setOpen(false)
    setText('')
  })
  const kind = harmless ? 'primary' : 'danger'
  return (
    <>
      <Button kind={harmless ? 'plain' : 'danger'} onClick={() => setOpen(true)}>
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
                kind={kind}
                type="submit"
                busy={doing.busy}
                disabled={typed !== undefined && text !== typed}
              >
                {action}
              </Button>
            </p>
          </Form>
        </Dialog>
      )}
    </>
  )
}
