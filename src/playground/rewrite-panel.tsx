import type { ApiClient } from '../console/api/client.ts'
import { useAction } from '../console/api/hooks.ts'
import { ActionOutcome } from '../console/ui/notice.tsx'
import { rewrite, rewriteCurl } from './rewrite.ts'
import { keepFocus } from './toolbar.tsx'

/** What a backend, or a model that writes, can do to a text that people have open. */
export function RewritePanel({ api }: { readonly api: ApiClient | null }) {
  const replace = useAction(async () => {
    if (api !== null) await rewrite(api, new Date())
    return 'The text was replaced. Cursors have stayed at their words.'
  })
  return (
    <section class="card">
      <h2>Rewrite by REST</h2>
      <p>
        A backend reads the text, changes it and sends all of it back. Weft makes the smallest edit of it, so
        that everybody's cursor stays.
      </p>
      {api === null ? (
        <p class="hint">From a window that was opened by the console this can be tried with one click.</p>
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
        <summary>As a call of curl</summary>
        <pre>{rewriteCurl(location.origin)}</pre>
        <p class="hint">This one replaces all of the text by one sentence.</p>
      </details>
    </section>
  )
}
