import { useState } from 'preact/hooks'
import { useAction, useApi, useCall } from '../calls.ts'
import { callForAll } from '../items.ts'
import { type Role, roles, sayRight } from '../rights/rights.ts'
import { go } from '../route.ts'
import { Ask } from '../ui/ask.tsx'
import { Button, Choice, Field } from '../ui/controls.tsx'
import { Facts } from '../ui/facts.tsx'
import { Form } from '../ui/form.tsx'
import { Notice, Outcome, Problem } from '../ui/notice.tsx'
import { Time } from '../ui/time.tsx'
import { UserData } from './data.tsx'
import { type UserProps, UserRights } from './rights.tsx'
import { MakeToken } from './token.tsx'
import type { UserRecord } from './users.tsx'

export function User({ organizationId, userId }: UserProps) {
  const question = { organizationId, userIds: [userId] }
  const { data, error, reload } = useCall<readonly UserRecord[]>('/v2/users/get', question)
  const user = data?.[0]
  return (
    <>
      <h2>{user?.name ? `${user.name} (${userId})` : userId}</h2>
      <Problem error={error} />
      {data !== null && user === undefined && (
        <Notice>
          Nobody of this id is a user of the organization. What is below can be done all the same.
        </Notice>
      )}
      {user !== undefined && <Known organizationId={organizationId} user={user} onChange={reload} />}
      <Tokens organizationId={organizationId} userId={userId} user={user} />
      <UserRights organizationId={organizationId} userId={userId} />
      <UserData userId={userId} />
    </>
  )
}

interface KnownProps {
  readonly organizationId: string
  readonly user: UserRecord
  readonly onChange: () => void
}

function Known({ organizationId, user, onChange }: KnownProps) {
  const { userId } = user
  const api = useApi()
  const [name, setName] = useState(user.name)
  const [email, setEmail] = useState(user.email)
  const [accessRole, setRole] = useState<Role | ''>(user.accessRole ?? '')
  const save = useAction(async () => {
    const changed = accessRole === '' || accessRole === user.accessRole ? {} : { accessRole }
    const users = [{ userId, name, email, ...changed }]
    await callForAll(api, '/v2/users/update', { organizationId, users })
    onChange()
    return 'Saved.'
  })
  const remove = async () => {
    await callForAll(api, '/v2/users/delete', { organizationId, userIds: [userId] })
    go('users', organizationId)
  }
  return (
    <section class="card" aria-label="What is known">
      <Facts
        of={[
          ['In the organization', user.accessRole === undefined ? 'no role of its own' : sayRight(user)],
          ['Until', user.expiresAt === undefined ? null : <Time key="" at={user.expiresAt * 1000} />],
          ['Photo', user.photoUrl],
          ['Colour', user.color],
          ['Since', <Time key="" at={user.createdAt} />],
        ]}
      />
      <Form label="Change the user" onSubmit={() => void save.run()}>
        <div class="row">
          <Field label="Name" value={name} onInput={setName} />
          <Field label="Email" type="email" value={email} onInput={setEmail} />
          <Choice<Role | ''>
            label="Role in the organization"
            value={accessRole}
            options={user.accessRole === undefined ? [['', 'None of its own'], ...roles] : roles}
            onChange={setRole}
          />
          <Button type="submit" busy={save.busy}>
            Save
          </Button>
        </div>
        <Outcome {...save} />
      </Form>
      <Ask action="Remove from organization" title={`Remove ${userId}?`} act={remove}>
        <p>
          With every right in the organization, the places in its groups, and what is known of the user there.
          Open connections follow within a second. What the user has written stays.
        </p>
      </Ask>
    </section>
  )
}

function Tokens({ organizationId, userId, user }: UserProps & { readonly user: UserRecord | undefined }) {
  const api = useApi()
  const [said, setSaid] = useState<string | null>(null)
  const revoke = async () => {
    await api.call('/v2/auth/revoke_tokens', { userId })
    setSaid(`The tokens of ${userId} are revoked.`)
  }
  return (
    <section class="card" aria-label="Realtime tokens">
      <h3>Realtime tokens</h3>
      <MakeToken
        organizationId={organizationId}
        userId={userId}
        name={user?.name ?? ''}
        email={user?.email ?? ''}
      />
      <Ask action="Revoke tokens" title={`Revoke the tokens of ${userId}?`} act={revoke}>
        <p>
          All tokens that were made for {userId} until now are refused, in every organization, and the user’s
          open connections end now (4401). Newer tokens are good.
        </p>
      </Ask>
      {said !== null && <Notice kind="good">{said}</Notice>}
    </section>
  )
}
