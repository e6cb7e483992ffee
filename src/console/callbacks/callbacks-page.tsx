import { useEffect, useState } from 'preact/hooks'
import { useAction, useApi, useAsync } from '../api/hooks.ts'
import { href, type PageProps } from '../routing/route.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Button, Checkbox, Select, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome, ErrorNotice } from '../ui/notice.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { SigningSecret } from '../webhooks/signing-secret.tsx'
import { CallCounts } from './call-counts.tsx'
import {
  type AnsweringName,
  type AnsweringSettings,
  type CallbackSettings,
  callbacksPath,
  failurePolicies,
  readCallbacks,
} from './callback-settings.ts'
import { CallbackTest } from './callback-test.tsx'
import { StoreDeliveries } from './store-deliveries.tsx'
import { StoreForm } from './store-form.tsx'

interface AnsweringFormProps {
  readonly name: AnsweringName
  /** Null if the callback is off. */
  readonly settings: AnsweringSettings | null
  readonly onChange: () => void
}

/** Shows the form of `authorize` or `load`. */
function AnsweringForm({ name, settings, onChange }: AnsweringFormProps) {
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

const names = ['authorize', 'load', 'store'] as const

/** Shows the page `#/callbacks/{callback}`; without a callback, `authorize`. */
export default function CallbacksPage({ rest: [given] }: PageProps) {
  const api = useApi()
  const { data, error, reload } = useAsync(() => readCallbacks(api), '')
  const name = names.find((each) => each === given) ?? 'authorize'
  return (
    <>
      <h1>Callbacks</h1>
      <p>
        Weft asks your backend while a client waits, and sends it the content of changed documents.{' '}
        <a href="/docs/callbacks">Callbacks</a> describes the requests and the answers.
      </p>
      <Tabs
        label="Callbacks"
        current={href('callbacks', name)}
        tabs={names.map((each) => [href('callbacks', each), each])}
      />
      <ErrorNotice error={error} />
      {data !== null && (
        <>
          {name === 'store' ? (
            <StoreView settings={data.store} onChange={reload} />
          ) : (
            <AnsweringView key={name} name={name} all={data} onChange={reload} />
          )}
          {data.createdAt !== undefined && <AllCallbacks onRemoved={reload} />}
        </>
      )}
    </>
  )
}

const purposes: Readonly<Record<AnsweringName, string>> = {
  authorize:
    'Decides the role of a user on a document when no grant decides. Weft keeps an answer for its ttlSeconds (60 by default), then asks again while a socket is open.',
  load: 'Returns the content of an editor that does not exist. Weft stores the content, so it loads each editor once. It remembers notFound for 5 seconds.',
}

interface AnsweringViewProps {
  readonly name: AnsweringName
  readonly all: CallbackSettings
  readonly onChange: () => void
}

function AnsweringView({ name, all, onChange }: AnsweringViewProps) {
  const settings = all[name]
  const [tests, setTests] = useState(0)
  return (
    <>
      <p class="hint">{purposes[name]}</p>
      <AnsweringForm name={name} settings={settings} onChange={onChange} />
      {settings !== null && (
        <CallbackTest name={name} onFailure={settings.onFailure} onTested={() => setTests(tests + 1)} />
      )}
      <CallCounts name={name} tests={tests} />
    </>
  )
}

type StoreViewProps = Parameters<typeof StoreForm>[0]

const StoreView = ({ settings, onChange }: StoreViewProps) => (
  <>
    <p class="hint">
      Gets the content of each changed editor, and the last version at the end. Weft repeats a failed request
      with the newest content until it succeeds.
    </p>
    <StoreForm settings={settings} onChange={onChange} />
    {settings !== null && <StoreDeliveries />}
    <CallCounts name="store" />
  </>
)

function AllCallbacks({ onRemoved }: { readonly onRemoved: () => void }) {
  const api = useApi()
  const remove = async () => {
    await api.call(`${callbacksPath}/delete`)
    onRemoved()
  }
  return (
    <>
      <SigningSecret path={`${callbacksPath}/secret`} signed="all requests of the three callbacks" />
      <ConfirmButton action="Remove all callbacks" title="Remove all callbacks?" act={remove}>
        <p>Weft stops all calls, and deletes the settings of the three callbacks and their secret.</p>
      </ConfirmButton>
    </>
  )
}
