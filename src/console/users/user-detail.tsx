import { useState } from 'preact/hooks'
import { callBatch } from '../api/batch-results.ts'
import { useAction, useApi, useQuery } from '../api/hooks.ts'
import { describePermission, type RoleName, roles } from '../permissions/permission.ts'
import { navigate } from '../routing/route.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Button, Select, TextField } from '../ui/controls.tsx'
import { DefinitionList } from '../ui/definition-list.tsx'
import { Form } from '../ui/form.tsx'
import { ActionOutcome, ErrorNotice, Notice } from '../ui/notice.tsx'
import { LocalTime } from '../ui/time.tsx'
import { TokenForm } from './token-form.tsx'
import { UserDataCard } from './user-data-card.tsx'
import type { ListedUser } from './user-list.tsx'
import { UserPermissionsView, type UserProps } from './user-permissions.tsx'

export function UserDetail({ organizationId, userId }: UserProps) {
  const question = { organizationId, userIds: [userId] }
  const { data, error, reload } = useQuery<readonly ListedUser[]>('/v2/users/get', question)
  const user = data?.[0]
  return (
    <>
      <h2>{user?.name ? `${user.name} (${userId})` : userId}</h2>
      <ErrorNotice error={error} />
      {data !== null && user === undefined && (
        <Notice>The organization has no user with this id. You can still use the actions below.</Notice>
      )}
      {user !== undefined && <Known organizationId={organizationId} user={user} onChange={reload} />}
      <Tokens organizationId={organizationId} userId={userId} user={user} />
      <UserPermissionsView organizationId={organizationId} userId={userId} />
      <UserDataCard userId={userId} />
    </>
  )
}

interface KnownProps {
  readonly organizationId: string
  readonly user: ListedUser
  readonly onChange: () => void
}

function Known({ organizationId, user, onChange }: KnownProps) {
  const { userId } = user
  const api = useApi()
  const [name, setName] = useState(user.name)
  const [email, setEmail] = useState(user.email)
  const [accessRole, setRole] = useState<RoleName | ''>(user.accessRole ?? '')
  const save = useAction(async () => {
    const changed = accessRole === '' || accessRole === user.accessRole ? {} : { accessRole }
    const users = [{ userId, name, email, ...changed }]
    await callBatch(api, '/v2/users/update', { organizationId, users })
    onChange()
    return 'Saved.'
  })
  const remove = async () => {
    await callBatch(api, '/v2/users/delete', { organizationId, userIds: [userId] })
    navigate('users', organizationId)
  }
  return (
    <section class="card" aria-label="User record">
      <DefinitionList
        of={[
          [
            'In the organization',
            user.accessRole === undefined ? 'no direct role' : describePermission(user),
          ],
          ['Until', user.expiresAt === undefined ? null : <LocalTime key="" at={user.expiresAt * 1000} />],
          ['Photo', user.photoUrl],
          ['Color', user.color],
          ['Since', <LocalTime key="" at={user.createdAt} />],
        ]}
      />
      <Form label="Change the user" onSubmit={() => void save.run()}>
        <div class="row">
          <TextField label="Name" value={name} onInput={setName} />
          <TextField label="Email" type="email" value={email} onInput={setEmail} />
          <Select<RoleName | ''>
            label="Role in the organization"
            value={accessRole}
            options={user.accessRole === undefined ? [['', 'No direct role'], ...roles] : roles}
            onChange={setRole}
          />
          <Button type="submit" busy={save.busy}>
            Save
          </Button>
        </div>
        <ActionOutcome {...save} />
      </Form>
      <ConfirmButton action="Remove from organization" title={`Remove ${userId}?`} act={remove}>
        <p>
          This also removes all permissions in the organization, the group memberships and the user record.
          Open connections follow within one second. Content of the user stays.
        </p>
      </ConfirmButton>
    </section>
  )
}

function Tokens({ organizationId, userId, user }: UserProps & { readonly user: ListedUser | undefined }) {
  const api = useApi()
  const [message, setMessage] = useState<string | null>(null)
  const revoke = async () => {
    await api.call('/v2/auth/revoke_tokens', { userId })
    setMessage(`The tokens of ${userId} are revoked.`)
  }
  return (
    <section class="card" aria-label="Realtime tokens">
      <h3>Realtime tokens</h3>
      <TokenForm
        organizationId={organizationId}
        userId={userId}
        name={user?.name ?? ''}
        email={user?.email ?? ''}
      />
      <ConfirmButton action="Revoke tokens" title={`Revoke the tokens of ${userId}?`} act={revoke}>
        <p>
          The server rejects all tokens created for {userId} until now, in every organization, and closes the
          user’s connections (4401). Newer tokens are valid.
        </p>
      </ConfirmButton>
      {message !== null && <Notice kind="good">{message}</Notice>}
    </section>
  )
}
