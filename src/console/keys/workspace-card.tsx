import { useState } from 'preact/hooks'
import { useApi, useQuery } from '../api/hooks.ts'
import { useSignIn } from '../auth/sign-in-context.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { DefinitionList } from '../ui/definition-list.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { SecretField } from '../ui/secret.tsx'
import { GracePeriodField, graceSecondsOf } from './grace-period-field.tsx'

interface WorkspaceRecord {
  readonly id: string
  readonly name: string
  readonly owner: { readonly email: string; readonly name: string }
}

/** Shows the properties of the workspace, and its token. */
export function WorkspaceCard() {
  const api = useApi()
  const enter = useSignIn()
  const { data, error } = useQuery<WorkspaceRecord>('/v2/workspace/get')
  const [minutes, setMinutes] = useState('0')
  const [made, setMade] = useState<string | null>(null)
  const reset = async () => {
    const path = '/v2/workspace/workspaceauthtoken/reset'
    const { newWorkspaceAuthToken } = await api.call<{ newWorkspaceAuthToken: string }>(path, {
      graceSeconds: graceSecondsOf(minutes),
    })
    setMade(newWorkspaceAuthToken)
    // Makes this session use the new token.
    enter({ ...api.credentials, workspaceAuthToken: newWorkspaceAuthToken })
  }
  return (
    <section class="card spaced" aria-label="Workspace">
      <h2>Workspace</h2>
      <ErrorNotice error={error} />
      {data !== null && (
        <DefinitionList
          of={[
            ['Name', data.name],
            ['Id', <code key="">{data.id}</code>],
            ['Owner', [data.owner.name, data.owner.email].filter(Boolean).join(', ')],
          ]}
        />
      )}
      {made !== null && (
        <>
          <Notice kind="good">The token was replaced. The new token is shown here only once.</Notice>
          <SecretField label="New workspace auth token" value={made} open />
        </>
      )}
      <ConfirmButton action="Reset workspace token" title="Reset the token of the workspace?" act={reset}>
        <p>
          This creates a new token. All earlier tokens expire after the time below; the server then rejects
          callers that use them. This session continues with the new token.
        </p>
        <GracePeriodField value={minutes} onInput={setMinutes} />
      </ConfirmButton>
    </section>
  )
}
