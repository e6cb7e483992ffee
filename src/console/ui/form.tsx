import type { ComponentChildren } from 'preact'

interface FormProps {
  /** Accessible name of the form, for pages with several forms. */
  readonly label: string
  readonly onSubmit: () => void
  readonly children: ComponentChildren
  readonly inline?: boolean
}

/** Shows a form. The Enter key submits it too. */
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
