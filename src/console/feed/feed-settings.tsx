import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Button, Select } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { formatCounted } from '../ui/format.ts'
import { ActionOutcome } from '../ui/notice.tsx'

export interface FeedSwitch {
  readonly enabled: boolean
  /** Time in seconds for which the feed keeps an event. */
  readonly keepSeconds: number
}

interface FeedSettingsProps {
  readonly config: FeedSwitch
  readonly onChange: () => void
}

const path = '/v2/workspace/feed/update'

const daySeconds = 86_400
const periods: readonly (readonly [string, string])[] = [
  ['3600', '1 hour'],
  [`${daySeconds}`, '1 day'],
  [`${7 * daySeconds}`, '1 week'],
  [`${30 * daySeconds}`, '30 days'],
  [`${90 * daySeconds}`, '90 days'],
]

/** Shows the switch of the feed, the time for which it keeps events, and its costs. */
export function FeedSettings({ config, onChange }: FeedSettingsProps) {
  const api = useApi()
  const [keep, setKeep] = useState(`${config.keepSeconds}`)
  const update = async (change: Partial<FeedSwitch>): Promise<void> => {
    await api.call(path, change)
    onChange()
  }
  const save = useAction(async (enabled: boolean) => {
    await update({ enabled, keepSeconds: Number(keep) })
    return 'Saved.'
  })
  const isListed = periods.some(([seconds]) => seconds === `${config.keepSeconds}`)
  const stored = [`${config.keepSeconds}`, formatCounted(config.keepSeconds, 'second')] as const
  return (
    <section class="card spaced" aria-label="Settings of the feed">
      <Form label="Settings of the feed" onSubmit={() => void save.run(true)}>
        <h2>Settings</h2>
        <p class="hint">
          A feed that is on stores each event once, at most 1,000,000 events. Each change then costs more CPU
          time: under full load, a server writes up to a fifth fewer updates per second.
        </p>
        <Select
          label="Keep events for"
          value={keep}
          options={isListed ? periods : [stored, ...periods]}
          onChange={setKeep}
        />
        <Button type="submit" kind={config.enabled ? 'plain' : 'primary'} busy={save.busy}>
          {config.enabled ? 'Save' : 'Turn on'}
        </Button>
      </Form>
      <ActionOutcome {...save} />
      {config.enabled && (
        <ConfirmButton
          action="Turn off"
          title="Turn off the change feed?"
          act={() => update({ enabled: false })}
        >
          <p>
            This removes all events of the feed. All cursors of its readers become invalid, also if you turn
            the feed on again.
          </p>
        </ConfirmButton>
      )}
    </section>
  )
}
