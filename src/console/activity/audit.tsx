import { useState } from 'preact/hooks'
import { usePages } from '../calls.ts'
import { NeedsWorkspace } from '../needs-workspace.tsx'
import { Button, Choice, Field } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { List } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { type Actor, type AuditRecord, actors, sayIds, sayOutcome } from './audit-record.ts'

/** Who has administrated, deleted or read secrets in the workspace, and who was refused. */
export const Audit = () => (
  <NeedsWorkspace>
    <Log />
  </NeedsWorkspace>
)

function Log() {
  const [operation, setOperation] = useState('')
  const [actor, setActor] = useState<Actor | ''>('')
  const [asked, setAsked] = useState({})
  const listing = usePages<AuditRecord>('/v2/workspace/audit/get', { order: 'desc', ...asked })
  const filter = () =>
    setAsked({ ...(operation === '' ? {} : { operation }), ...(actor === '' ? {} : { actor }) })
  return (
    <>
      <Form label="Filter the audit log" inline onSubmit={filter}>
        <Field
          label="Operation"
          type="search"
          placeholder="/v2/auth/generate_token"
          value={operation}
          onInput={setOperation}
        />
        <Choice<Actor | ''> label="By" value={actor} options={actors} onChange={setActor} />
        <Button type="submit">Filter</Button>
      </Form>
      <List
        caption="Audit log"
        listing={listing}
        keyOf={({ auditId }) => auditId}
        empty="Nothing is recorded, as far as the filters say."
        columns={[
          { title: 'When', cell: ({ timestamp }) => <Time at={timestamp} /> },
          { title: 'By', cell: ({ actor, apiKey }) => <By actor={actor} apiKey={apiKey} /> },
          { title: 'Operation', cell: (record) => <What record={record} /> },
          { title: 'Outcome', cell: (record) => sayOutcome(record) },
          { title: 'From', cell: ({ clientAddress = '' }) => clientAddress },
        ]}
      />
    </>
  )
}

const By = ({ actor, apiKey = '' }: { readonly actor: Actor; readonly apiKey: string | undefined }) => (
  <>
    {actor} {apiKey !== '' && <code>{apiKey}</code>}
  </>
)

const What = ({ record }: { readonly record: AuditRecord }) => (
  <>
    <code>{record.operation}</code>
    {sayIds(record) !== '' && <span class="hint">{sayIds(record)}</span>}
  </>
)
