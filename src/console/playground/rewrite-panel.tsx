import type { ApiClient } from '../api/client.ts'
import { useAction } from '../api/hooks.ts'
import { ActionOutcome } from '../ui/notice.tsx'
import { rewrite, rewriteCurl } from './rewrite.ts'
import { keepFocus } from './toolbar.tsx'

/** Demonstrates how a backend or a language model changes a text that users are editing. */
export function RewritePanel({ api }: { readonly api: ApiClient | null }) {
  const writing = useAction(async () => {
    if (api !== null) await rewrite(api, new Date())
    return 'The sentence was written. Cursors stayed at their words.'
  })
  return (
    <section class="card">
      <h2>Rewrite by REST</h2>
      <p>
        A backend sends the edit of one sentence. Weft changes only this sentence, so all other text and all
        cursors stay in place.
      </p>
      {api === null ? (
        <p class="hint">Open this window from the console to try it with one click.</p>
      ) : (
        <p>
          <button
            type="button"
            class="button"
            disabled={writing.busy}
            onMouseDown={keepFocus}
            onClick={() => void writing.run()}
          >
            Rewrite by REST
          </button>
        </p>
      )}
      <ActionOutcome {...writing} />
      <details>
        <summary>The call with curl</summary>
        <pre>{rewriteCurl(location.origin)}</pre>
        <p class="hint">This call adds a paragraph at the end of the text.</p>
      </details>
    </section>
  )
}
