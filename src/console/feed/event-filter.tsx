import { useState } from 'preact/hooks'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { type EventSelection, listedEventTypes } from './listed-event.ts'

/** Selected events, and the members of a request that name the start. */
export interface EventQuery {
  readonly selection: EventSelection
  readonly start: { readonly from: 'latest' | 'oldest' } | { readonly cursor: string }
}

export const latestEvents: EventQuery = { selection: {}, start: { from: 'latest' } }

const starts = [
  ['latest', 'the latest events'],
  ['oldest', 'the oldest kept event'],
  ['cursor', 'a cursor'],
] as const
type Start = (typeof starts)[number][0]

const types = [['', 'All'] as const, ...listedEventTypes.map((type) => [type, type] as const)]

/** Shows a form that selects events. The selection applies when the user submits the form. */
export function EventFilter({ onQuery }: { readonly onQuery: (query: EventQuery) => void }) {
  const [organizationId, setOrganization] = useState('')
  const [documents, setDocuments] = useState('')
  const [type, setType] = useState('')
  const [start, setStart] = useState<Start>('latest')
  const [cursor, setCursor] = useState('')
  const submit = () => {
    const documentIds = documents
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean)
    const selection = {
      ...(organizationId.trim() !== '' && { organizationId: organizationId.trim() }),
      ...(documentIds.length > 0 && { documentIds }),
      ...(type !== '' && { types: [type] }),
    }
    onQuery({ selection, start: start === 'cursor' ? { cursor: cursor.trim() } : { from: start } })
  }
  return (
    <Form label="Filter" inline onSubmit={submit}>
      <TextField label="Organization id" type="search" value={organizationId} onInput={setOrganization} />
      <TextField
        label="Document ids"
        type="search"
        placeholder="separated by commas"
        value={documents}
        onInput={setDocuments}
      />
      <Select label="Event type" value={type} options={types} onChange={setType} />
      <Select<Start> label="Start with" value={start} options={starts} onChange={setStart} />
      {start === 'cursor' && (
        <TextField label="Events after the cursor" value={cursor} onInput={setCursor} required />
      )}
      <Button type="submit">Show events</Button>
    </Form>
  )
}
