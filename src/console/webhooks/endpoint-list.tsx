import { useState } from 'preact/hooks'
import type {
  WebhookEndpoint,
  WorkspaceAdvancedwebhookEndpointsGetData,
} from '../../client/api/operation-types.ts'
import { eventTypes } from '../../core/events/event-types.ts'
import { useApi, usePagedQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { Checkbox, LocalTime, TextField } from '../ui/controls.tsx'
import { ActionForm } from '../ui/form.tsx'
import { PagedTable } from '../ui/table.tsx'
import { type Draft, emptyDraft, toCreateRequest } from './endpoint-draft.ts'

interface EndpointFieldsProps {
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

export function EndpointFields({ draft, onChange }: EndpointFieldsProps) {
  const set = (member: 'url' | 'description' | 'channels' | 'rateLimit') => (value: string) =>
    onChange({ ...draft, [member]: value })
  const toggle = (type: string, isChosen: boolean) => {
    const others = draft.filterTypes.filter((each) => each !== type)
    onChange({ ...draft, filterTypes: isChosen ? [...others, type] : others })
  }
  return (
    <>
      <TextField label="URL" type="url" value={draft.url} onInput={set('url')} required />
      <TextField label="Description" value={draft.description} onInput={set('description')} />
      <details class="field">
        <summary>
          Receives{' '}
          {draft.filterTypes.length === 0 ? 'all events' : `${draft.filterTypes.length} kinds of events`}
        </summary>
        <p class="hint">Without a selection: all events.</p>
        {eventTypes.map((type) => (
          <Checkbox
            key={type}
            label={type}
            checked={draft.filterTypes.includes(type)}
            onChange={(isChosen) => toggle(type, isChosen)}
          />
        ))}
      </details>
      <div class="row fields">
        <TextField
          label="Only organizations and documents"
          placeholder="ids, separated by commas"
          value={draft.channels}
          onInput={set('channels')}
        />
        <TextField
          label="Maximum deliveries per second"
          type="number"
          value={draft.rateLimit}
          onInput={set('rateLimit')}
        />
      </div>
    </>
  )
}

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
