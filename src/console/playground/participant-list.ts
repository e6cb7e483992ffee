import type { Awareness } from 'y-protocols/awareness'

/**
 * Colors of users, for clients that read a color from the awareness state. The colors in `playground.css`
 * have the same number and the same values.
 */
const colors = ['#8fd3ff', '#ffd28a', '#b9e88f', '#ffb0c0', '#d3bcff', '#8fe6d8'] as const

export const colorOf = (clientId: number): string => colors[clientId % colors.length] as string
export const colorClass = (clientId: number): string => `guest-${clientId % colors.length}`

export interface ListedParticipant {
  readonly clientId: number
  readonly name: string
  readonly isSelf: boolean
}

/** Returns all users on the document, with the user of this window first. */
export function listParticipants({
  clientID,
  states,
}: Pick<Awareness, 'clientID' | 'states'>): readonly ListedParticipant[] {
  const people = [...states].map(([clientId, { user }]) => ({
    clientId,
    name: nameOf(user),
    isSelf: clientId === clientID,
  }))
  return people.sort(
    (one, other) => Number(other.isSelf) - Number(one.isSelf) || one.name.localeCompare(other.name),
  )
}

/** Returns the name in an awareness state. The state of another client may have any value, or none. */
function nameOf(user: unknown): string {
  const name = (user as { readonly name?: unknown } | undefined)?.name
  return typeof name === 'string' && name !== '' ? name : 'Somebody'
}
