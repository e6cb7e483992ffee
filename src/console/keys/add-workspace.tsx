import { useState } from 'preact/hooks'
import { ApiClient } from '../api/client.ts'
import { useAction, useApi } from '../api/hooks.ts'
import { useSignIn } from '../auth/sign-in-context.ts'
import { Button, TextField } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { ErrorNotice } from '../ui/notice.tsx'

/**
 * Shows a form for a session that has only the credentials of an API key. The user can add the credentials of
 * the workspace.
 */
export function AddWorkspace() {
  const { credentials } = useApi()
  const enter = useSignIn()
  const [workspaceId, setId] = useState('')
  const [workspaceAuthToken, setToken] = useState('')
  const add = useAction(async () => {
    const all = {
      ...credentials,
      workspaceId: workspaceId.trim(),
      workspaceAuthToken: workspaceAuthToken.trim(),
    }
    await new ApiClient(all).page('/v2/workspace/apikeys/get', { pageSize: 1 })
    enter(all)
  })
  return (
    <section class="card spaced" aria-label="Workspace">
      <Form label="Add the workspace" onSubmit={() => void add.run()}>
        <h2>Workspace</h2>
        <p>
          API keys, their tokens and the audit log belong to the workspace, and need its credentials. The
          first start of the server printed them, and <code>credentials.json</code> in the data directory
          contains them. Only this tab keeps them.
        </p>
        <TextField label="Workspace id" value={workspaceId} onInput={setId} required />
        <TextField
          label="Workspace auth token"
          type="password"
          autocomplete="off"
          value={workspaceAuthToken}
          onInput={setToken}
          required
        />
        <ErrorNotice error={add.error} />
        <Button kind="primary" type="submit" busy={add.busy}>
          Add to this session
        </Button>
      </Form>
    </section>
  )
}
