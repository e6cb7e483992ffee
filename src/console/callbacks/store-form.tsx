import { useEffect, useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, Checkbox, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome } from '../ui/notice.tsx'
import { contentFormats } from '../webhooks/webhook-types.ts'
import { callbacksPath, type StoreSettings } from './callback-settings.ts'

interface StoreFormProps {
  /** Null if the callback is off. */
  readonly settings: StoreSettings | null
  readonly onChange: () => void
}

const formats: readonly (readonly [string, string])[] = contentFormats.map((each) => [each, each])

export function StoreForm({ settings, onChange }: StoreFormProps) {
  const api = useApi()
  const [isOn, setOn] = useState(settings !== null)
  const [url, setUrl] = useState(settings?.url ?? '')
  const [format, setFormat] = useState(settings?.format ?? 'json')
  const [contentKey, setContentKey] = useState(settings?.contentKey ?? '')
  const [minSeconds, setMinSeconds] = useState(`${settings?.minSeconds ?? 10}`)
  // The callback may have been removed by another form of the page.
  const isRemoved = settings === null
  useEffect(() => {
    if (isRemoved) setOn(false)
  }, [isRemoved])
  const save = useAction(async () => {
    const key = contentKey.trim()
    const on = {
      url: url.trim(),
      format,
      minSeconds: Number(minSeconds),
      ...(key !== '' && { contentKey: key }),
    }
    await api.call(`${callbacksPath}/update`, { store: isOn ? on : null })
    onChange()
    return isOn ? 'Saved.' : 'Saved. Weft does not call store any more.'
  })
  return (
    <section class="card" aria-label="Settings of store">
      <Form label="Settings of store" onSubmit={() => void save.run()}>
        <h2>Settings</h2>
        <Checkbox label="The callback store is on" checked={isOn} onChange={setOn} />
        {isOn && (
          <>
            <TextField label="URL" type="url" value={url} onInput={setUrl} required />
            <Select label="Format of the content" value={format} options={formats} onChange={setFormat} />
            <TextField
              label="Root"
              value={contentKey}
              onInput={setContentKey}
              hint="Empty: the root that crdt/get reads. Set it if your editors have several roots."
            />
            <TextField
              label="Minimum time between two requests about an editor (seconds)"
              type="number"
              value={minSeconds}
              onInput={setMinSeconds}
              required
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
