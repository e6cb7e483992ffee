import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { formatTime } from './format.ts'

/** Shows a time in the local format. @param at time in epoch milliseconds or as ISO 8601 */
export function LocalTime({ at }: { readonly at: number | string }) {
  return <time dateTime={new Date(at).toISOString()}>{formatTime(at)}</time>
}

interface TabsProps {
  readonly label: string
  readonly current: string
  /** Address and label of each tab. */
  readonly tabs: readonly (readonly [string, string])[]
}

/** Shows links to the pages of a section. */
export const Tabs = ({ label, current, tabs }: TabsProps) => (
  <nav aria-label={label} class="tabs">
    {tabs.map(([to, title]) => (
      <a key={to} href={to} class="tab" aria-current={to === current ? 'page' : undefined}>
        {title}
      </a>
    ))}
  </nav>
)

interface ButtonProps {
  readonly children: ComponentChildren
  readonly onClick?: () => void
  /** `primary` is the main action of the page. `danger` is an action that cannot be undone. */
  readonly kind?: 'primary' | 'danger' | 'plain'
  readonly busy?: boolean
  readonly disabled?: boolean
  readonly type?: 'button' | 'submit'
  /** Label for screen readers. Needed if the text of the button does not describe the action sufficiently. */
  readonly label?: string
}

export const Button = ({ children, onClick, kind, busy, disabled, type, label }: ButtonProps) => (
  <button
    type={type ?? 'button'}
    class={`button ${kind ?? 'plain'}`}
    disabled={disabled === true || busy === true}
    aria-busy={busy === true}
    aria-label={label}
    onClick={onClick}
  >
    {children}
  </button>
)

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly hint?: string
  readonly type?: 'text' | 'search' | 'password' | 'number' | 'url' | 'email' | 'datetime-local'
  readonly rows?: number
  readonly required?: boolean
  readonly placeholder?: string
  readonly autocomplete?: string
}

/** Shows a labeled text field. If `rows` is set, the field has several lines. */
export function TextField({ label, value, onInput, hint, rows, type, ...rest }: FieldProps) {
  const id = useId()
  const shared = {
    id,
    value,
    'aria-describedby': hint === undefined ? undefined : `${id}-hint`,
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onInput(currentTarget.value),
    spellcheck: false,
    ...rest,
  }
  const control =
    rows === undefined ? (
      <input {...({ type: type ?? 'text', ...shared } as object)} />
    ) : (
      <textarea rows={rows} {...shared} />
    )
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {control}
      {hint !== undefined && (
        <small id={`${id}-hint`} class="hint">
          {hint}
        </small>
      )}
    </div>
  )
}

interface ChoiceProps<Value extends string> {
  readonly label: string
  readonly value: Value
  readonly options: readonly (readonly [Value, string])[]
  readonly onChange: (value: Value) => void
}

/** Shows a field that selects one of a few options. */
export function Select<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  const id = useId()
  const choose = (chosen: string): void => {
    const [found] = options.find(([each]) => each === chosen) ?? []
    if (found !== undefined) onChange(found)
  }
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {options.map(([each, text]) => (
          <option key={each} value={each}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}

interface CheckProps {
  readonly label: string
  readonly checked: boolean
  readonly onChange: (checked: boolean) => void
}

export const Checkbox = ({ label, checked, onChange }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    {label}
  </label>
)
