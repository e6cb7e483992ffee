import { useEffect, useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, Checkbox, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'
import {
  type AnsweringName,
  type AnsweringSettings,
  callbacksPath,
  failurePolicies,
} from './callback-settings.ts'

interface AnsweringFormProps {
  readonly name: AnsweringName
  /** Null if the callback is off. */
  readonly settings: AnsweringSettings | null
  readonly onChange: () => void
}

/** Shows the form of `authorize` or `load`. */
export function AnsweringForm({ name, settings, onChange }: AnsweringFormProps) {
  const api = useApi()
  const [isOn, setOn] = useState(settings !== null)
  const [url, setUrl] = useState(settings?.url ?? '')
  const [timeout, setTimeoutMs] = useState(`${settings?.timeoutMs ?? 5000}`)
  const [onFailure, setFailure] = useState(settings?.onFailure ?? 'reject')
  // The callback may have been removed by another form of the page.
  const isRemoved = settings === null
  useEffect(() => {
    if (isRemoved) setOn(false)
  }, [isRemoved])
  const save = useAction(async () => {
    const next = isOn ? { url: url.trim(), timeoutMs: Number(timeout), onFailure } : null
    await api.call(`${callbacksPath}/update`, { [name]: next })
    onChange()
    return isOn ? 'Saved.' : `Saved. Weft does not call ${name} any more.`
  })
  return (
    <section class="card" aria-label={`Settings of ${name}`}>
      <Form label={`Settings of ${name}`} onSubmit={() => void save.run()}>
        <h2>Settings</h2>
        <Checkbox label={`The callback ${name} is on`} checked={isOn} onChange={setOn} />
        {isOn && (
          <>
            <TextField label="URL" type="url" value={url} onInput={setUrl} required />
            <TextField
              label="Timeout (ms)"
              type="number"
              value={timeout}
              onInput={setTimeoutMs}
              required
              hint="100 to 30,000: the whole call, with waits and retries."
            />
            <Select
              label="If a call fails"
              value={onFailure}
              options={failurePolicies[name].map(([value, effect]) => [value, `${value}: ${effect}`])}
              onChange={setFailure}
            />
          </>
        )}
        <Button kind="primary" type="submit" busy={save.busy}>
          Save
        </Button>
        <ActionOutcome {...save} />
      </Form>
    </section>
  )
}
