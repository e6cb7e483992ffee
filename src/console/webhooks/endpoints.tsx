import { useState } from 'preact/hooks'
import { useAction, useApi, useCall } from '../calls.ts'
import { go, href } from '../route.ts'
import { Button } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Empty, Outcome, Problem } from '../ui/notice.tsx'
import { Table } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { emptyDraft, questionOf } from './endpoint-draft.ts'
import { EndpointFields } from './endpoint-fields.tsx'
import { Pager } from './pager.tsx'
import type { Endpoint } from './types.ts'

interface Page {
  readonly endpoints: readonly Endpoint[]
  readonly iterator: string | null
  readonly prevIterator: string | null
  readonly done: boolean
}

const path = '/v2/workspace/advancedwebhook/endpoints'

export function Endpoints() {
  const [iterator, setIterator] = useState<string | null>(null)
  const { data, error } = useCall<Page>(`${path}/get`, iterator === null ? {} : { iterator })
  return (
    <>
      <Problem error={error} />
      {data?.endpoints.length === 0 && (
        <Empty>No endpoints yet. One is an URL of yours that is sent what happens, signed.</Empty>
      )}
      {data !== null && data.endpoints.length > 0 && (
        <Table
          caption="Endpoints"
          items={data.endpoints}
          keyOf={({ id }) => id}
          columns={[
            { title: 'URL', cell: ({ id, url }) => <a href={href('webhooks', 'endpoint', id)}>{url}</a> },
            { title: 'Description', cell: ({ description }) => description },
            { title: 'Told of', cell: ({ filterTypes }) => filterTypes?.join(', ') ?? 'everything' },
            { title: 'State', cell: ({ disabled }) => <OnOrOff isOff={disabled} /> },
            { title: 'Made', cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      )}
      {data !== null && <Pager page={data} onPage={setIterator} />}
      <NewEndpoint />
    </>
  )
}

export const OnOrOff = ({ isOff }: { readonly isOff: boolean }) => (
  <span class={isOff ? 'tag bad' : 'tag good'}>{isOff ? 'disabled' : 'on'}</span>
)

function NewEndpoint() {
  const api = useApi()
  const [draft, setDraft] = useState(emptyDraft)
  const create = useAction(async () => {
    const made = await api.call<Endpoint>(`${path}/create`, questionOf(draft))
    go('webhooks', 'endpoint', made.id)
  })
  return (
    <section class="card spaced" aria-label="New endpoint">
      <Form label="New endpoint" onSubmit={() => void create.run()}>
        <h2>New endpoint</h2>
        <EndpointFields draft={draft} onChange={setDraft} />
        <Button kind="primary" type="submit" busy={create.busy}>
          Make endpoint
        </Button>
        <Outcome {...create} />
      </Form>
    </section>
  )
}
