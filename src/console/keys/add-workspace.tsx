import { useState } from 'preact/hooks'
import { Api } from '../api.ts'
import { useAction, useApi } from '../calls.ts'
import { useEnter } from '../session.ts'
import { Button, Field } from '../ui/controls.tsx'
import { Form } from '../ui/form.tsx'
import { Problem } from '../ui/notice.tsx'

/** For who has signed in with an API key alone. */
export function AddWorkspace() {
  const { credentials } = useApi()
  const enter = useEnter()
  const [workspaceId, setId] = useState('')
  const [workspaceAuthToken, setToken] = useState('')
  const add = useAction(async () => {
    const all = {
      ...credentials,
      workspaceId: workspaceId.trim(),
      workspaceAuthToken: workspaceAuthToken.trim(),
    }
    await new Api(all).page('/v2/workspace/apikeys/get', { pageSize: 1 })
    enter(all)
  })
  return (
    <section class="card spaced" aria-label="Workspace">
      <Form label="Add the workspace" onSubmit={() => void add.run()}>
        <h2>Workspace</h2>
        <p>
          API keys, their tokens and the audit log belong to the workspace, and need its own credentials: the
          first start has printed them, and they are in <code>credentials.json</code> of the data directory.
          They are kept for this tab only.
        </p>
        <Field label="Workspace id" value={workspaceId} onInput={setId} required />
        <Field
          label="Workspace auth token"
          type="password"
          autocomplete="off"
          value={workspaceAuthToken}
          onInput={setToken}
          required
        />
        <Problem error={add.error} />
        <Button kind="primary" type="submit" busy={add.busy}>
          Add to this session
        </Button>
      </Form>
    </section>
  )
}
