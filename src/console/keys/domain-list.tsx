import { useState } from 'preact/hooks'
import { useApi, useQuery, useServerVersion } from '../api/hooks.ts'
import { Checkbox, TextField } from '../ui/controls.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ActionForm } from '../ui/form.tsx'
import { EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import { isHostAllowed, withCurrentHost } from './domain-rules.ts'

const path = '/v2/workspace/domains'

/**
 * Lists the allowed domains of the current API key. Pages from these domains may connect and call with the
 * key.
 */
export function DomainList({ apiKey }: { readonly apiKey: string | undefined }) {
  const api = useApi()
  const { data, error, reload } = useQuery<{ readonly allowedDomains: readonly string[] }>(`${path}/get`)
  const [typed, setTyped] = useState('')
  const [keepsOwn, setKeepsOwn] = useState(true)
  const listed = data?.allowedDomains ?? []
  const isOwn = useIsOwn()
  const added = isOwn ? [typed] : withCurrentHost(listed, typed, location.hostname)
  const add = async () => {
    await api.call(`${path}/add`, { domains: keepsOwn ? added : [typed] })
    setTyped('')
    reload()
    return 'Added.'
  }
  const remove = async (domain: string) => {
    await api.call(`${path}/delete`, { domains: [domain] })
    reload()
  }
  const locksOut = (domain: string): boolean =>
    !isOwn &&
    !isHostAllowed(
      listed.filter((each) => each !== domain),
      location.hostname,
    )
  return (
    <section aria-label="Domains">
      <h2>Domains</h2>
      <p class="hint">
        If the API key {apiKey !== undefined && <code>{apiKey}</code>} has domains, pages of other domains may
        neither connect nor call.
      </p>
      <ErrorNotice error={error} />
      {data?.allowedDomains.length === 0 && (
        <EmptyNotice>No domains: pages of all domains may connect.</EmptyNotice>
      )}
      {data !== null && data.allowedDomains.length > 0 && (
        <Table
          caption="Domains"
          items={data.allowedDomains}
          keyOf={(domain) => domain}
          columns={[
            { title: 'Domain', cell: (domain) => <code>{domain}</code> },
            {
              title: '',
              cell: (domain) => (
                <ConfirmButton
                  action="Remove"
                  label={`Remove ${domain}`}
                  title={`Remove ${domain}?`}
                  act={() => remove(domain)}
                >
                  <p>
                    {locksOut(domain)
                      ? 'This console runs on this domain. After the removal it may not use the API key.'
                      : listed.length === 1
                        ? 'After the removal, pages of all domains may use the API key.'
                        : 'After the removal, pages of this domain may not use the API key.'}
                  </p>
                </ConfirmButton>
              ),
            },
          ]}
        />
      )}
      <ActionForm label="Add a domain" action="Add domain" act={add}>
        <TextField
          label="Domain"
          placeholder="www.example.com, or *.example.com"
          value={typed}
          onInput={setTyped}
          required
        />
        {added.length > 1 && (
          <Checkbox
            label={`Also add ${location.hostname}; without it, this console may not use the API key`}
            checked={keepsOwn}
            onChange={setKeepsOwn}
          />
        )}
      </ActionForm>
    </section>
  )
}

/**
 * Returns whether this page comes from the server itself. Such pages are always allowed, even if the list of
 * domains is not empty.
 */
function useIsOwn(): boolean {
  const { data } = useServerVersion()
  return data !== null && new URL(data.publicUrl).origin === location.origin
}
