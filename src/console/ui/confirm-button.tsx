import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../api/hooks.ts'
import { Button, TextField } from './controls.tsx'
import { Dialog } from './dialog.tsx'
import { Form } from './form.tsx'
import { ErrorNotice } from './notice.tsx'

interface AskProps {
  /** What the button says that asks first. */
  readonly action: string
  readonly title: string
  /** What will be, once it is done. */
  readonly children: ComponentChildren
  /** What has to be typed for it to be done: for what is far-reaching. */
  readonly typed?: string
  /** Whether nothing is lost by it. */
  readonly harmless?: boolean
  readonly act: () => Promise<unknown>
}

/** A button for what cannot be undone: asks, does it, and stays open where it could not be done. */
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
              <TextField label={`Type ${typed} to go on`} value={text} onInput={setText} />
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
