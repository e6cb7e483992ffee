import { useId, useRef, useState } from 'preact/hooks'
import { Button } from './controls.tsx'

interface SecretProps {
  readonly label: string
  readonly value: string
  /** True to show the secret from the start, for a secret that appears only once. */
  readonly open?: boolean
}

/** Shows a secret, which is hidden until the user shows it. It can be copied while it is hidden. */
export function SecretField({ label, value, open = false }: SecretProps) {
  const [isShown, setShown] = useState(open)
  const [message, setMessage] = useState('')
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(value)
      setMessage('Copied.')
    } catch {
      // Shows the secret, so that the user can copy it. Without HTTPS, pages may not use the clipboard.
      setShown(true)
      setTimeout(() => field.current?.select())
      setMessage('Selected: copy it with your keyboard.')
    }
  }
  return (
    <div class="field secret">
      <label for={id}>{label}</label>
      <div class="row">
        <input
          {...({ ref: field, id, class: 'code', type: isShown ? 'text' : 'password' } as object)}
          readOnly
          autocomplete="off"
          value={value}
        />
        <Button label={`${isShown ? 'Hide' : 'Show'} ${label}`} onClick={() => setShown(!isShown)}>
          {isShown ? 'Hide' : 'Show'}
        </Button>
        <Button label={`Copy ${label}`} onClick={() => void copy()}>
          Copy
        </Button>
      </div>
      <small role="status" class="hint">
        {message}
      </small>
    </div>
  )
}
