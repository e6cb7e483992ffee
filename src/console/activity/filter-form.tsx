import { useState } from 'preact/hooks'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { type Filters, noFilters } from './activity-filters.ts'
import { type ActivityKind, activityKinds } from './describe-activity.ts'

const features = [
  ['', 'Any'] as const,
  ...activityKinds.map((type) => [type, type === 'crdt' ? 'crdt: content' : type] as const),
]

/**
 * Shows a form with the filters. The filters apply when the user submits the form, so that not every
 * keystroke sends a request.
 */
export function FilterForm({ onFilter }: { readonly onFilter: (filters: Filters) => void }) {
  const [filters, setFilters] = useState(noFilters)
  const set = (member: keyof Filters) => (value: string) =>
    setFilters((before) => ({ ...before, [member]: value }))
  return (
    <Form label="Filter" inline onSubmit={() => onFilter(filters)}>
      <TextField label="Document id" type="search" value={filters.documentId} onInput={set('documentId')} />
      <TextField label="User id" type="search" value={filters.userId} onInput={set('userId')} />
      <Select<ActivityKind | ''>
        label="Feature"
        value={filters.feature}
        options={features}
        onChange={set('feature')}
      />
      <TextField
        label="Actions"
        type="search"
        placeholder="comment.add, document.delete"
        value={filters.actions}
        onInput={set('actions')}
      />
      <Button type="submit">Filter</Button>
    </Form>
  )
}
