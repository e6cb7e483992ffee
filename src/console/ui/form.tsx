import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../api/hooks.ts'
import { Button, Select, TextField } from './controls.tsx'
import { ActionOutcome } from './notice.tsx'

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

interface ActionFormProps {
  readonly label: string
  /** Label of the button that submits the form. */
  readonly action: string
  /** True if the action is the main action of the page. */
  readonly primary?: boolean
  /** True if the fields are below each other. */
  readonly stacked?: boolean
  readonly disabled?: boolean
  /** Action of the form. Returns a sentence that describes the result, or nothing. */
  readonly act: () => Promise<unknown>
  readonly children: ComponentChildren
}

/** Shows a form that runs an action, and the outcome of the action. */
export function ActionForm({ label, action, primary, stacked, disabled, act, children }: ActionFormProps) {
  const { run, busy, ...outcome } = useAction(act)
  return (
    <Form label={label} onSubmit={() => void run()}>
      <div class={stacked ? undefined : 'row'}>
        {children}
        <Button kind={primary ? 'primary' : 'plain'} type="submit" busy={busy} disabled={disabled === true}>
          {action}
        </Button>
      </div>
      <ActionOutcome {...outcome} />
    </Form>
  )
}

interface OpenFormProps {
  /** Label of the field for the id. */
  readonly label: string
  readonly hint?: string
  readonly onOpen: (id: string) => void
}

/** Shows a form that opens something by its id. */
export function OpenForm({ label, hint, onOpen }: OpenFormProps) {
  const [id, setId] = useState('')
  return (
    <Form label="Open" inline onSubmit={() => onOpen(id)}>
      <TextField label={label} value={id} onInput={setId} required {...(hint !== undefined && { hint })} />
      <Button type="submit">Open</Button>
    </Form>
  )
}

interface FilterField<Name extends string> {
  readonly name: Name
  readonly label: string
  readonly placeholder?: string
  /** Values that the user can choose; '' is the choice of all. Without options, the user can enter any text. */
  readonly options?: readonly (readonly [string, string])[]
}

interface FilterFormProps<Name extends string> {
  readonly fields: readonly FilterField<Name>[]
  /** Gets the values that are not empty. */
  readonly onFilter: (filters: { readonly [Each in Name]?: string }) => void
}

/**
 * Shows a form with filters. The filters apply when the user submits the form, so that not every keystroke
 * sends a request.
 */
export function FilterForm<Name extends string>({ fields, onFilter }: FilterFormProps<Name>) {
  const [values, setValues] = useState<{ readonly [Each in Name]?: string }>({})
  const filter = () => {
    const given = fields.map(({ name }) => [name, values[name]?.trim() ?? ''] as const)
    onFilter(Object.fromEntries(given.filter(([, value]) => value !== '')) as typeof values)
  }
  return (
    <Form label="Filter" inline onSubmit={filter}>
      {fields.map(({ name, options, ...field }) => {
        const value = values[name] ?? ''
        const set = (changed: string) => setValues({ ...values, [name]: changed })
        return options === undefined ? (
          <TextField key={name} {...field} type="search" value={value} onInput={set} />
        ) : (
          <Select key={name} label={field.label} value={value} options={options} onChange={set} />
        )
      })}
      <Button type="submit">Filter</Button>
    </Form>
  )
}
