import { useId, useRef, useState } from 'preact/hooks'
import { Button } from './controls.tsx'

/**
 * Copies a text. Browsers deny access to the clipboard without HTTPS.
 * @param select selects the text, so that the user can copy it when the clipboard cannot be used
 * @returns a message about the result, and the function that copies
 */
function useCopy(text: string, select: () => void): { readonly message: string; readonly copy: () => void } {
  const [message, setMessage] = useState('')
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setMessage('Copied.')
    } catch {
      select()
      setMessage('Selected: copy it with your keyboard.')
    }
  }
  return { message, copy: () => void copy() }
}

interface CodeProps {
  /** Accessible name of the code. */
  readonly label: string
  readonly code: string
}

/** Shows code with a button that copies it. */
export function CodeSample({ label, code }: CodeProps) {
  const shown = useRef<HTMLPreElement>(null)
  const { message, copy } = useCopy(code, () => {
    if (shown.current !== null) getSelection()?.selectAllChildren(shown.current)
  })
  return (
    <div class="field">
      <section class="card sample" aria-label={label}>
        <pre ref={shown}>
          <code>{code}</code>
        </pre>
      </section>
      <div class="row">
        <Button label={`Copy ${label}`} onClick={copy}>
          Copy
        </Button>
        <small role="status" class="hint">
          {message}
        </small>
      </div>
    </div>
  )
}

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
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const { message, copy } = useCopy(value, () => {
    setShown(true)
    setTimeout(() => field.current?.select())
  })
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
        <Button label={`Copy ${label}`} onClick={copy}>
          Copy
        </Button>
      </div>
      <small role="status" class="hint">
        {message}
      </small>
    </div>
  )
}
