import { useState } from 'preact/hooks'
import type { WorkspaceGetData } from '../../client/api/operation-types.ts'
import { ApiClient } from '../api/client.ts'
import { useApi, useQuery, useSignIn } from '../api/hooks.ts'
import type { PageProps } from '../routing/route.ts'
import { TextField } from '../ui/controls.tsx'
import { SecretField } from '../ui/copy.tsx'
import { ConfirmButton } from '../ui/dialog.tsx'
import { ActionForm } from '../ui/form.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import { DefinitionList } from '../ui/table.tsx'
import { DomainList } from './domain-list.tsx'
import { GracePeriodField, graceSecondsOf, KeyList } from './key-list.tsx'

/** Shows the properties of the workspace, and its token. */
function WorkspaceCard() {
  const api = useApi()
  const enter = useSignIn()
  const { data, error } = useQuery<WorkspaceGetData>('/v2/workspace/get')
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

/**
 * Shows a form for a session that has only the credentials of an API key. The user can add the credentials of
 * the workspace.
 */
function AddWorkspace() {
  const { credentials } = useApi()
  const enter = useSignIn()
  const [workspaceId, setId] = useState('')
  const [workspaceAuthToken, setToken] = useState('')
  const add = async () => {
    const all = {
      ...credentials,
      workspaceId: workspaceId.trim(),
      workspaceAuthToken: workspaceAuthToken.trim(),
    }
    await new ApiClient(all).call('/v2/workspace/apikeys/get', { pageSize: 1 })
    enter(all)
  }
  return (
    <section class="card spaced" aria-label="Workspace">
      <h2>Workspace</h2>
      <p>
        API keys, their tokens and the audit log belong to the workspace, and need its credentials. The first
        start of the server printed them, and <code>credentials.json</code> in the data directory contains
        them. Only this tab keeps them.
      </p>
      <ActionForm label="Add the workspace" action="Add to this session" primary stacked act={add}>
        <TextField label="Workspace id" value={workspaceId} onInput={setId} required />
        <TextField
          label="Workspace auth token"
          type="password"
          autocomplete="off"
          value={workspaceAuthToken}
          onInput={setToken}
          required
        />
      </ActionForm>
    </section>
  )
}

export default function KeysPage(_props: PageProps) {
  const { apiKey, workspaceId, workspaceAuthToken } = useApi().credentials
  const hasWorkspace = workspaceId !== undefined && workspaceAuthToken !== undefined
  return (
    <>
      <h1>Keys and domains</h1>
      {/* Without authentication, the session has no API key, but the server has exactly one. */}
      {(apiKey !== undefined || !hasWorkspace) && <DomainList apiKey={apiKey} />}
      {hasWorkspace ? (
        <>
          <WorkspaceCard />
          <KeyList />
        </>
      ) : (
        <AddWorkspace />
      )}
    </>
  )
}
