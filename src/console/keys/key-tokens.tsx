import { useState } from 'preact/hooks'
import { useAction, useApi, useCall } from '../calls.ts'
import { forgetOrganization } from '../organization.tsx'
import { useEnter } from '../session.ts'
import { type ApiKey, withKey } from '../signing-in.ts'
import { Ask } from '../ui/ask.tsx'
import { Button } from '../ui/controls.tsx'
import { Notice, Problem } from '../ui/notice.tsx'
import { Secret } from '../ui/secret.tsx'
import { GraceField, graceSecondsOf } from './grace.tsx'

interface AuthToken {
  readonly token: string
  readonly name: string
  readonly domains: readonly string[]
}

interface KeyTokensProps {
  readonly apiKey: ApiKey
  readonly onClose: () => void
}

/** The auth tokens of one API key: hidden until somebody wants to see them. */
export function KeyTokens({ apiKey: { id, apiKeyName }, onClose }: KeyTokensProps) {
  const api = useApi()
  const { credentials } = api
  const enter = useEnter()
  const path = '/v2/workspace/authtokens/get'
  const { data, error, reload } = useCall<{ authTokens: readonly AuthToken[] }>(path, { apiKey: id })
  const [minutes, setMinutes] = useState('0')
  const [isReset, setReset] = useState(false)
  const isInForce = id === credentials.apiKey
  const reset = async () => {
    const question = { apiKey: id, graceSeconds: graceSecondsOf(minutes) }
    const { newAuthToken } = await api.call<{ newAuthToken: AuthToken }>(
      '/v2/workspace/authtoken/reset',
      question,
    )
    setReset(true)
    if (isInForce) enter({ ...credentials, authToken: newAuthToken.token })
    reload()
  }
  const use = useAction(async () => {
    const next = await withKey(credentials, id)
    forgetOrganization()
    enter(next)
  })
  return (
    <section class="card spaced" aria-label={`Tokens of ${id}`}>
      <h3>Auth tokens of {apiKeyName === '' ? id : apiKeyName}</h3>
      <Problem error={error ?? use.error} />
      {data?.authTokens.map(({ token, name, domains }) => (
        <div key={token}>
          <Secret label={name === '' ? 'Auth token' : `Auth token ${name}`} value={token} />
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
        <Ask action="Reset token" title={`Reset the auth token of ${id}?`} act={reset}>
          <p>
            A new token is made. All that were good before end after the time that you say here: backends that
            use them are refused from then on.
          </p>
          <GraceField value={minutes} onInput={setMinutes} />
        </Ask>
        <Button onClick={onClose}>Close</Button>
      </div>
    </section>
  )
}
