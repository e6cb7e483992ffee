import { useRef, useState } from 'preact/hooks'
import { Button } from './controls.tsx'

interface CodeProps {
  /** Accessible name of the code. */
  readonly label: string
  readonly code: string
}

/** Shows code with a button that copies it. */
export function CodeSample({ label, code }: CodeProps) {
  const [message, setMessage] = useState('')
  const shown = useRef<HTMLPreElement>(null)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(code)
      setMessage('Copied.')
    } catch {
      // If the clipboard cannot be used, selects the code, so that the user can copy it. Browsers deny access
      // to the clipboard without HTTPS.
      if (shown.current !== null) getSelection()?.selectAllChildren(shown.current)
      setMessage('Selected: copy it with your keyboard.')
    }
  }
  return (
    <div class="field">
      <section class="card sample" aria-label={label}>
        <pre ref={shown}>
          <code>{code}</code>
        </pre>
      </section>
      <div class="row">
        <Button label={`Copy ${label}`} onClick={() => void copy()}>
          Copy
        </Button>
        <small role="status" class="hint">
          {message}
        </small>
      </div>
    </div>
  )
}
