import type { ComponentChildren } from 'preact'

interface FormProps {
  /** Accessible name, for pages with several forms. */
  readonly label: string
  readonly onSubmit: () => void
  readonly children: ComponentChildren
  readonly inline?: boolean
}

/** A form that Enter also submits. */
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
