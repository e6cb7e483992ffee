import type { ComponentChildren } from 'preact'

interface FormProps {
  /** Accessible name of the form. Needed because a page can have several forms. */
  readonly label: string
  readonly onSubmit: () => void
  readonly children: ComponentChildren
  readonly inline?: boolean
}

/** Shows a form. The user can also submit the form with the Enter key. */
export const Form = ({ label, onSubmit, children, inline }: FormProps) => (
  <form
    class={inline ? 'row form' : 'form'}
    aria-label={label}
    onSubmit={(event) => {
      event.preventDefault()
      onSubmit()
    }}
  >
    {children}
  </form>
)
