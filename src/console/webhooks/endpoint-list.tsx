import { useState } from 'preact/hooks'
import type {
  WebhookEndpoint,
  WorkspaceAdvancedwebhookEndpointsGetData,
} from '../../client/api/operation-types.ts'
import { useApi, usePagedQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { LocalTime } from '../ui/controls.tsx'
import { ActionForm } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { emptyDraft, toCreateRequest } from './endpoint-draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'

const path = '/v2/workspace/advancedwebhook/endpoints'

export function EndpointList() {
  const listing = usePagedQuery<WebhookEndpoint, WorkspaceAdvancedwebhookEndpointsGetData>(
    `${path}/get`,
    {},
    { size: { limit: 50 }, itemsOf: ({ endpoints }) => endpoints },
  )
  return (
    <>
      <PagedTable
        caption="Endpoints"
        listing={listing}
        keyOf={({ id }) => id}
        empty="No endpoints yet. An endpoint is a URL of yours that receives signed events."
        columns={[
          { title: 'URL', cell: ({ id, url }) => <a href={href('webhooks', 'endpoint', id)}>{url}</a> },
          { title: 'Description', cell: ({ description }) => description },
          { title: 'Event types', cell: ({ filterTypes }) => filterTypes?.join(', ') ?? 'everything' },
          { title: 'State', cell: ({ disabled }) => <EnabledBadge isOff={disabled} /> },
          { title: 'Made', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
        ]}
      />
      <NewEndpoint />
    </>
  )
}

export const EnabledBadge = ({ isOff }: { readonly isOff: boolean }) => (
  <span class={isOff ? 'tag bad' : 'tag good'}>{isOff ? 'disabled' : 'on'}</span>
)

function NewEndpoint() {
  const api = useApi()
  const [draft, setDraft] = useState(emptyDraft)
  const create = async () => {
    const made = await api.call<WebhookEndpoint>(`${path}/create`, toCreateRequest(draft))
    navigate('webhooks', 'endpoint', made.id)
  }
  return (
    <section class="card spaced" aria-label="New endpoint">
      <h2>New endpoint</h2>
      <ActionForm label="New endpoint" action="Make endpoint" primary stacked act={create}>
        <EndpointFields draft={draft} onChange={setDraft} />
      </ActionForm>
    </section>
  )
}
