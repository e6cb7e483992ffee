import { useState } from 'preact/hooks'
import { useAction, useApi } from '../api/hooks.ts'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { SecretField } from '../ui/secret.tsx'

type Type = 'testing' | 'production'

interface Made {
  readonly apiKey: string
  readonly authToken: string
}

/** Shows a form that creates an API key. Afterwards, shows the token of the new key. */
export function NewKey({ onMade }: { readonly onMade: () => void }) {
  const api = useApi()
  const [apiKeyName, setName] = useState('')
  const [type, setType] = useState<Type>('testing')
  const [made, setMade] = useState<Made | null>(null)
  const create = useAction(async () => {
    setMade(await api.call<Made>('/v2/workspace/apikey/create', { apiKeyName, type }))
    setName('')
    onMade()
  })
  return (
    <>
      <Form label="Make an API key" inline onSubmit={() => void create.run()}>
        <TextField label="Name of the new key" value={apiKeyName} onInput={setName} required />
        <Select<Type>
          label="For"
          value={type}
          options={[
            ['testing', 'Testing'],
            ['production', 'Production'],
          ]}
          onChange={setType}
        />
        <Button type="submit" busy={create.busy}>
          Make API key
        </Button>
      </Form>
      <ErrorNotice error={create.error} />
      {made !== null && (
        <Dialog title="The API key is made" onClose={() => setMade(null)}>
          <p>The token appears only once here. With the workspace credentials you can read it again.</p>
          <SecretField label="New API key" value={made.apiKey} open />
          <SecretField label="New auth token" value={made.authToken} open />
          <Button onClick={() => setMade(null)}>Close</Button>
        </Dialog>
      )}
    </>
  )
}
