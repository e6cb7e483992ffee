import { useState } from 'preact/hooks'
import { useAction, useApi, useQuery } from '../api/hooks.ts'
import { href, navigate } from '../routing/route.ts'
import { Button } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome, EmptyNotice, ErrorNotice } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import { LocalTime } from '../ui/time.tsx'
import { emptyDraft, toCreateRequest } from './endpoint-draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { IteratorPager } from './iterator-pager.tsx'
import type { EndpointSettings } from './webhook-types.ts'

interface Page {
  readonly endpoints: readonly EndpointSettings[]
  readonly iterator: string | null
  readonly prevIterator: string | null
  readonly done: boolean
}

const path = '/v2/workspace/advancedwebhook/endpoints'

export function EndpointList() {
  const [iterator, setIterator] = useState<string | null>(null)
  const { data, error } = useQuery<Page>(`${path}/get`, iterator === null ? {} : { iterator })
  return (
    <>
      <ErrorNotice error={error} />
      {data?.endpoints.length === 0 && (
        <EmptyNotice>
          No endpoints yet. An endpoint is a URL of yours that receives signed events.
        </EmptyNotice>
      )}
      {data !== null && data.endpoints.length > 0 && (
        <Table
          caption="Endpoints"
          items={data.endpoints}
          keyOf={({ id }) => id}
          columns={[
            { title: 'URL', cell: ({ id, url }) => <a href={href('webhooks', 'endpoint', id)}>{url}</a> },
            { title: 'Description', cell: ({ description }) => description },
            { title: 'Event types', cell: ({ filterTypes }) => filterTypes?.join(', ') ?? 'everything' },
            { title: 'State', cell: ({ disabled }) => <EnabledBadge isOff={disabled} /> },
            { title: 'Made', cell: ({ createdAt }) => <LocalTime at={createdAt} /> },
          ]}
        />
      )}
      {data !== null && <IteratorPager page={data} onPage={setIterator} />}
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
  const create = useAction(async () => {
    const made = await api.call<EndpointSettings>(`${path}/create`, toCreateRequest(draft))
    navigate('webhooks', 'endpoint', made.id)
  })
  return (
    <section class="card spaced" aria-label="New endpoint">
      <Form label="New endpoint" onSubmit={() => void create.run()}>
        <h2>New endpoint</h2>
        <EndpointFields draft={draft} onChange={setDraft} />
        <Button kind="primary" type="submit" busy={create.busy}>
          Make endpoint
        </Button>
        <ActionOutcome {...create} />
      </Form>
    </section>
  )
}
