import { useState } from 'preact/hooks'
import type { AuthGenerateTokenData, UsersGetDataItem } from '../../client/api/operation-types.ts'
import { useAction, useApi, useIsShown, useQuery } from '../api/hooks.ts'
import { describePermission, type RoleName, roles } from '../permissions/permission.ts'
import { navigate } from '../routing/route.ts'
import { Button, LocalTime, Select, TextField } from '../ui/controls.tsx'
import { SecretField } from '../ui/copy.tsx'
import { ConfirmButton, Dialog } from '../ui/dialog.tsx'
import { ActionForm } from '../ui/form.tsx'
import { formatCounted } from '../ui/format.ts'
import { ActionOutcome, ErrorNotice, Notice } from '../ui/notice.tsx'
import { DefinitionList } from '../ui/table.tsx'
import { describeErasure, downloadUserData, type ErasureProgress, eraseUser } from './erase-user.ts'
import { UserPermissionsView, type UserProps } from './user-permissions.tsx'

/** Saves a text as a file of the user. @param type media type of the text */
function saveFile(name: string, type: string, text: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/**
 * Lets an administrator download or erase all stored data of a user. This includes the data in all
 * organizations.
 */
function UserDataCard({ userId }: { readonly userId: string }) {
  const api = useApi()
  const [erasure, setErasure] = useState<ErasureProgress | null>(null)
  const isShown = useIsShown()
  const download = useAction(async () => {
    const items = await downloadUserData(api, userId)
    saveFile(`user-${userId}.json`, 'application/json', JSON.stringify({ userId, items }, null, 2))
    return `${formatCounted(items.length, 'thing')} downloaded.`
  })
  const work = useAction(() => eraseUser(api, userId, setErasure, isShown))
  return (
    <section class="card spaced" aria-label="Data of the user">
      <h3>Data of the user</h3>
      <p class="hint">Covers all organizations of this API key, without the content of documents.</p>
      <div class="row">
        <Button busy={download.busy} onClick={() => void download.run()}>
          Download as JSON
        </Button>
        <ConfirmButton
          action="Erase the user"
          title={`Erase ${userId}?`}
          typed={userId}
          // The dialog does not wait for the end of the erasure. The erasure continues after the dialog
          // closes, and this card shows its progress.
          act={async () => void work.run()}
        >
          <p>
            In all organizations, this deletes permissions, group memberships, the user record, notifications
            and presence, revokes the tokens, and closes the connections. Comments and activities that others
            see stay, and name <code>deleted-user</code>. You cannot undo this.
          </p>
        </ConfirmButton>
      </div>
      <ActionOutcome {...download} />
      <ActionOutcome {...work} />
      {erasure !== null && (
        <Notice kind={erasure.status === 'done' ? 'good' : 'info'}>{describeErasure(erasure)}</Notice>
      )}
    </section>
  )
}

export function UserDetail({ organizationId, userId }: UserProps) {
  const question = { organizationId, userIds: [userId] }
  const { data, error, reload } = useQuery<readonly UsersGetDataItem[]>('/v2/users/get', question)
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
  readonly user: UsersGetDataItem
  readonly onChange: () => void
}

function Known({ organizationId, user, onChange }: KnownProps) {
  const { userId } = user
  const api = useApi()
  const [name, setName] = useState(user.name)
  const [email, setEmail] = useState(user.email)
  const [accessRole, setRole] = useState<RoleName | ''>(user.accessRole ?? '')
  const save = async () => {
    const changed = accessRole === '' || accessRole === user.accessRole ? {} : { accessRole }
    const users = [{ userId, name, email, ...changed }]
    await api.callBatch('/v2/users/update', { organizationId, users })
    onChange()
    return 'Saved.'
  }
  const remove = async () => {
    await api.callBatch('/v2/users/delete', { organizationId, userIds: [userId] })
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
      <ActionForm label="Change the user" action="Save" act={save}>
        <TextField label="Name" value={name} onInput={setName} />
        <TextField label="Email" type="email" value={email} onInput={setEmail} />
        <Select<RoleName | ''>
          label="Role in the organization"
          value={accessRole}
          options={user.accessRole === undefined ? [['', 'No direct role'], ...roles] : roles}
          onChange={setRole}
        />
      </ActionForm>
      <ConfirmButton action="Remove from organization" title={`Remove ${userId}?`} act={remove}>
        <p>
          This also removes all permissions in the organization, the group memberships and the user record.
          Open connections follow within one second. Content of the user stays.
        </p>
      </ConfirmButton>
    </section>
  )
}

function Tokens({
  organizationId,
  userId,
  user,
}: UserProps & { readonly user: UsersGetDataItem | undefined }) {
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

interface MakeTokenProps {
  readonly organizationId: string
  readonly userId: string
  readonly name: string
  readonly email: string
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
function TokenForm({ organizationId, userId, name, email }: MakeTokenProps) {
  const api = useApi()
  const [minutes, setMinutes] = useState('60')
  const [role, setRole] = useState<Permission>('none')
  const [made, setMade] = useState<AuthGenerateTokenData | null>(null)
  const create = async () => {
    const resources = [{ type: 'organization', id: organizationId, accessRole: role }]
    const data = {
      userId,
      userProperties: { name, email },
      expiresInSeconds: Math.round(Number(minutes) * 60),
      ...(role === 'none' ? {} : { permissions: { resources } }),
    }
    setMade(await api.call<AuthGenerateTokenData>('/v2/auth/generate_token', data))
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
