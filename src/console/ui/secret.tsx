import { useId, useRef, useState } from 'preact/hooks'
import { Button } from './controls.tsx'

interface SecretProps {
  readonly label: string
  readonly value: string
  /** True if the secret is visible from the start. Used for a secret that is shown only once. */
  readonly open?: boolean
}

/**
 * Shows a secret. The secret is hidden until the user makes it visible. The user can also copy it while it is
 * hidden.
 */
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
      // If the clipboard cannot be used, shows and selects the secret, so that the user can copy it. Browsers
      // deny access to the clipboard without HTTPS.
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
