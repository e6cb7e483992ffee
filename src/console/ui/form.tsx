import type { ComponentChildren, VNode } from 'preact'
import { useState } from 'preact/hooks'
import { useAction } from '../api/hooks.ts'
import { keepValues, sessionValues } from '../api/session-values.ts'
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

type Filters<Name extends string> = { readonly [Each in Name]?: string }

/**
 * Returns the values of filters that are not empty, and the form in which the user enters them. The filters apply
 * when the user submits the form, so that not every keystroke sends a request. Filters with the same name on other
 * pages have the same value.
 */
export function useFilters<Name extends string>(
  fields: readonly FilterField<Name>[],
): readonly [Filters<Name>, VNode] {
  const givenIn = (values: Filters<string>) => {
    const given = fields.map(({ name }) => [name, values[name]?.trim() ?? ''] as const)
    return Object.fromEntries(given.filter(([, value]) => value !== '')) as Filters<Name>
  }
  const [values, setValues] = useState<Filters<string>>(sessionValues)
  const [filters, setFilters] = useState(() => givenIn(values))
  const apply = (entered: Filters<string>) => {
    const given = givenIn(entered)
    keepValues(Object.fromEntries(fields.map(({ name }) => [name, given[name]])))
    setValues(entered)
    setFilters(given)
  }
  const form = (
    <Form label="Filter" inline onSubmit={() => apply(values)}>
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
      {Object.keys(filters).length > 0 && <Button onClick={() => apply({})}>Show all</Button>}
    </Form>
  )
  return [filters, form]
}
