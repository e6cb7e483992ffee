import { useState } from 'preact/hooks'
import type {
  WorkspaceApikeyCreateData,
  WorkspaceAuthtokenResetData,
  WorkspaceAuthtokensGetData,
} from '../../client/api/operation-types.ts'
import { useAction, useApi, usePagedQuery, useQuery, useSignIn } from '../api/hooks.ts'
import { type ApiKey, authenticateWithKey } from '../auth/authenticate.ts'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { SecretField } from '../ui/copy.tsx'
import { ConfirmButton, Dialog } from '../ui/dialog.tsx'
import { ActionForm } from '../ui/form.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { PagedTable } from '../ui/table.tsx'

interface GraceFieldProps {
  readonly value: string
  readonly onInput: (minutes: string) => void
}

export const GracePeriodField = ({ value, onInput }: GraceFieldProps) => (
  <TextField
    label="Old token stays valid for (minutes)"
    type="number"
    value={value}
    onInput={onInput}
    hint="0: it expires now."
    required
  />
)

export const graceSecondsOf = (minutes: string): number => Math.round(Number(minutes) * 60)

interface KeyTokensProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
}

/** Shows the auth tokens of one API key. The tokens are hidden at first. */
function KeyTokens({ apiKey: { id, apiKeyName }, onClose }: KeyTokensProps) {
  const api = useApi()
  const { credentials } = api
  const enter = useSignIn()
  const path = '/v2/workspace/authtokens/get'
  const { data, error, reload } = useQuery<WorkspaceAuthtokensGetData>(path, { apiKey: id })
  const [minutes, setMinutes] = useState('0')
  const [isReset, setReset] = useState(false)
  const isInForce = id === credentials.apiKey
  const reset = async () => {
    const question = { apiKey: id, graceSeconds: graceSecondsOf(minutes) }
    const { newAuthToken } = await api.call<WorkspaceAuthtokenResetData>(
      '/v2/workspace/authtoken/reset',
      question,
    )
    setReset(true)
    if (isInForce) enter({ ...credentials, authToken: newAuthToken.token })
    reload()
  }
  const use = useAction(async () => enter(await authenticateWithKey(credentials, id)))
  return (
    <section class="card spaced" aria-label={`Tokens of ${id}`}>
      <h3>Auth tokens of {apiKeyName === '' ? id : apiKeyName}</h3>
      <ErrorNotice error={error ?? use.error} />
      {data?.authTokens.map(({ token, name, domains }) => (
        <div key={token}>
          <SecretField label={name === '' ? 'Auth token' : `Auth token ${name}`} value={token} />
          {domains.length > 0 && <p class="hint">Only pages of {domains.join(', ')}</p>}
        </div>
      ))}
      {isReset && <Notice kind="good">The token is replaced; above is the new one.</Notice>}
      <div class="row">
        {!isInForce && (
          <Button kind="primary" busy={use.busy} onClick={() => void use.run()}>
            Use this key in the console
          </Button>
        )}
        <ConfirmButton action="Reset token" title={`Reset the auth token of ${id}?`} act={reset}>
          <p>
            This creates a new token. All earlier tokens expire after the time below; the server then rejects
            backends that use them.
          </p>
          <GracePeriodField value={minutes} onInput={setMinutes} />
        </ConfirmButton>
        <Button onClick={onClose}>Close</Button>
      </div>
    </section>
  )
}

type Type = 'testing' | 'production'

/** Shows a form that creates an API key. Afterwards, shows the token of the new key. */
function NewKey({ onMade }: { readonly onMade: () => void }) {
  const api = useApi()
  const [apiKeyName, setName] = useState('')
  const [type, setType] = useState<Type>('testing')
  const [made, setMade] = useState<WorkspaceApikeyCreateData | null>(null)
  const create = async () => {
    setMade(await api.call<WorkspaceApikeyCreateData>('/v2/workspace/apikey/create', { apiKeyName, type }))
    setName('')
    onMade()
  }
  return (
    <>
      <ActionForm label="Make an API key" action="Make API key" act={create}>
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
      </ActionForm>
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

/** Lists the API keys of the workspace. */
export function KeyList() {
  const { credentials } = useApi()
  const listing = usePagedQuery<ApiKey>('/v2/workspace/apikeys/get', {})
  const [opened, setOpened] = useState<ApiKey | null>(null)
  return (
    <section aria-label="API keys">
      <h2>API keys</h2>
      <PagedTable
        caption="API keys"
        listing={listing}
        keyOf={({ id }) => id}
        empty="No API keys yet."
        columns={[
          {
            title: 'Key',
            cell: ({ id, apiKeyName }) => (
              <>
                {apiKeyName} <code class="hint">{id}</code>
              </>
            ),
          },
          { title: 'For', cell: ({ type }) => type },
          {
            title: 'Console',
            cell: ({ id }) => id === credentials.apiKey && <span class="tag good">in use here</span>,
          },
          {
            title: '',
            cell: (key) => (
              <Button
                label={`Tokens of ${key.apiKeyName === '' ? key.id : key.apiKeyName}`}
                onClick={() => setOpened(key)}
              >
                Tokens
              </Button>
            ),
          },
        ]}
      />
      {opened !== null && <KeyTokens key={opened.id} apiKey={opened} onClose={() => setOpened(null)} />}
      <NewKey onMade={listing.reload} />
    </section>
  )
}
