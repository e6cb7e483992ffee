import type { Awareness } from 'y-protocols/awareness'

/** The awareness field `user`, which each client publishes. The server replaces `id` and `name` by those of the token. */
export interface UserFields {
  readonly name?: string
  readonly color?: string
  readonly [field: string]: unknown
}

/** A user on the document. Several windows of one user are one entry. */
export interface PresentUser extends UserFields {
  /** Id of the user; null if a client publishes none. */
  readonly id: string | null
  readonly name: string
  /** `agent`: the user is a program. */
  readonly kind: 'user' | 'agent'
  /** True for the user of this provider. */
  readonly isSelf: boolean
  /** Awareness ids of the windows of the user. */
  readonly clientIds: readonly number[]
}

/** Returns the users of all awareness states. The own user is first; the order is stable. */
export function presentUsers(
  awareness: Awareness,
  self: { readonly id: string | undefined; readonly name: string | undefined },
): PresentUser[] {
  const users = new Map<string | number, PresentUser>()
  const states = [...awareness.getStates()].sort(
    ([one], [other]) =>
      Number(other === awareness.clientID) - Number(one === awareness.clientID) || one - other,
  )
  for (const [clientId, { user }] of states) {
    const isOwn = clientId === awareness.clientID
    const fields: UserFields = { ...(user as UserFields | undefined) }
    const id = (isOwn && self.id) || (typeof fields.id === 'string' ? fields.id : null)
    const known = users.get(id ?? clientId)
    users.set(id ?? clientId, {
      ...fields,
      ...known,
      id,
      name: known?.name ?? ((isOwn && self.name) || fields.name || ''),
      kind: known?.kind === 'agent' || fields.kind === 'agent' ? 'agent' : 'user',
      isSelf: isOwn || known?.isSelf === true,
      clientIds: [...(known?.clientIds ?? []), clientId],
    })
  }
  return [...users.values()]
}
