import { useState } from 'preact/hooks'
import { useApi, usePagedQuery } from '../api/hooks.ts'
import type { ApiKey } from '../auth/authenticate.ts'
import { Button } from '../ui/controls.tsx'
import { PagedTable } from '../ui/table.tsx'
import { KeyTokens } from './key-tokens.tsx'
import { NewKey } from './new-key.tsx'

/** Lists the API keys of the workspace. */
export function KeyList() {
  const { credentials } = useApi()
  const listing = usePagedQuery<ApiKey>('/v2/workspace/apikeys/get', {})
  const [opened, setOpened] = useState<ApiKey | null>(null)
  return (
    <section aria-label="API keys">
      <h2>API keys</h2>
      <PagedTable
        caption="API keys"
        listing={listing}
        keyOf={({ id }) => id}
        empty="No API keys yet."
        columns={[
          {
            title: 'Key',
            cell: ({ id, apiKeyName }) => (
              <>
                {apiKeyName} <code class="hint">{id}</code>
              </>
            ),
          },
          { title: 'For', cell: ({ type }) => type },
          {
            title: 'Console',
            cell: ({ id }) => id === credentials.apiKey && <span class="tag good">in use here</span>,
          },
          {
            title: '',
            cell: (key) => (
              <Button
                label={`Tokens of ${key.apiKeyName === '' ? key.id : key.apiKeyName}`}
                onClick={() => setOpened(key)}
              >
                Tokens
              </Button>
            ),
          },
        ]}
      />
      {opened !== null && <KeyTokens key={opened.id} apiKey={opened} onClose={() => setOpened(null)} />}
      <NewKey onMade={listing.reload} />
    </section>
  )
}
