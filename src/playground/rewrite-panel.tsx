import type { ApiClient } from '../console/api/client.ts'
import { useAction } from '../console/api/hooks.ts'
import { ActionOutcome } from '../console/ui/notice.tsx'
import { rewrite, rewriteCurl } from './rewrite.ts'
import { keepFocus } from './toolbar.tsx'

/** Demonstrates how a backend or a language model changes a text that users are editing. */
export function RewritePanel({ api }: { readonly api: ApiClient | null }) {
  const replace = useAction(async () => {
    if (api !== null) await rewrite(api, new Date())
    return 'The text was replaced. Cursors stayed at their words.'
  })
  return (
    <section class="card">
      <h2>Rewrite by REST</h2>
      <p>
        A backend reads the text, changes it and sends the whole text back. Weft applies the smallest change,
        so all cursors stay in place.
      </p>
      {api === null ? (
        <p class="hint">Open this window from the console to try it with one click.</p>
      ) : (
        <p>
          <button
            type="button"
            class="button"
            disabled={replace.busy}
            onMouseDown={keepFocus}
            onClick={() => void replace.run()}
          >
            Rewrite by REST
          </button>
        </p>
      )}
      <ActionOutcome {...replace} />
      <details>
        <summary>The call with curl</summary>
        <pre>{rewriteCurl(location.origin)}</pre>
        <p class="hint">This call replaces the whole text with one sentence.</p>
      </details>
    </section>
  )
}
