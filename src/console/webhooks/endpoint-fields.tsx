import { Checkbox, TextField } from '../ui/controls.tsx'
import { type Draft, endpointEventTypes } from './endpoint-draft.ts'

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
        {endpointEventTypes.map((type) => (
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
