import { useState } from 'preact/hooks'
import { useAction, useApi, useQuery } from '../api/hooks.ts'
import { type ApiKey, authenticateWithKey } from '../auth/authenticate.ts'
import { useSignIn } from '../auth/sign-in-context.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Button } from '../ui/controls.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { SecretField } from '../ui/secret.tsx'
import { GracePeriodField, graceSecondsOf } from './grace-period-field.tsx'

interface ListedAuthToken {
  readonly token: string
  readonly name: string
  readonly domains: readonly string[]
}

interface KeyTokensProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
}

/** Shows the auth tokens of one API key. The tokens are hidden at first. */
export function KeyTokens({ apiKey: { id, apiKeyName }, onClose }: KeyTokensProps) {
  const api = useApi()
  const { credentials } = api
  const enter = useSignIn()
  const path = '/v2/workspace/authtokens/get'
  const { data, error, reload } = useQuery<{ authTokens: readonly ListedAuthToken[] }>(path, { apiKey: id })
  const [minutes, setMinutes] = useState('0')
  const [isReset, setReset] = useState(false)
  const isInForce = id === credentials.apiKey
  const reset = async () => {
    const question = { apiKey: id, graceSeconds: graceSecondsOf(minutes) }
    const { newAuthToken } = await api.call<{ newAuthToken: ListedAuthToken }>(
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
