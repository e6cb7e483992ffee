import { useState } from 'preact/hooks'
import { useApi } from '../api/hooks.ts'
import type { RoleName } from '../permissions/permission.ts'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { SecretField } from '../ui/copy.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { ActionForm } from '../ui/form.tsx'
import { LocalTime } from '../ui/time.tsx'

interface MakeTokenProps {
  readonly organizationId: string
  readonly userId: string
  readonly name: string
  readonly email: string
}

interface Made {
  readonly token: string
  /** Time at which the token expires, in epoch seconds. */
  readonly expiresAt: number
}

type Permission = RoleName | 'none'

const choices = [
  ['none', 'None: only the permissions of the user'],
  ['viewer', 'Viewer of the organization'],
  ['suggester', 'Suggester of the organization'],
  ['editor', 'Editor of the organization'],
] as const

/**
 * Shows a form that creates a token. With the token, a page connects as the user. The token is shown only
 * once.
 */
export function TokenForm({ organizationId, userId, name, email }: MakeTokenProps) {
  const api = useApi()
  const [minutes, setMinutes] = useState('60')
  const [role, setRole] = useState<Permission>('none')
  const [made, setMade] = useState<Made | null>(null)
  const create = async () => {
    const resources = [{ type: 'organization', id: organizationId, accessRole: role }]
    const data = {
      userId,
      userProperties: { name, email },
      expiresInSeconds: Math.round(Number(minutes) * 60),
      ...(role === 'none' ? {} : { permissions: { resources } }),
    }
    setMade(await api.call<Made>('/v2/auth/generate_token', data))
  }
  return (
    <>
      <ActionForm label="Make a token" action="Make a token" act={create}>
        <TextField label="Valid for (minutes)" type="number" value={minutes} onInput={setMinutes} required />
        <Select<Permission>
          label="Additional permissions"
          value={role}
          options={choices}
          onChange={setRole}
        />
      </ActionForm>
      {made !== null && (
        <Dialog title={`A token for ${userId}`} onClose={() => setMade(null)}>
          <p>
            The token appears only once. It is valid until <LocalTime at={made.expiresAt * 1000} />. Anyone
            who has the token acts as {userId}.
          </p>
          <SecretField label="Token" value={made.token} open />
          <Button onClick={() => setMade(null)}>Close</Button>
        </Dialog>
      )}
    </>
  )
}
