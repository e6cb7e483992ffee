import type { Awareness } from 'y-protocols/awareness'

/** As many colors as `playground.css` has, with the same values: for clients that read a color. */
const colors = ['#8fd3ff', '#ffd28a', '#b9e88f', '#ffb0c0', '#d3bcff', '#8fe6d8'] as const

export const colorOf = (clientId: number): string => colors[clientId % colors.length] as string
export const colorClass = (clientId: number): string => `guest-${clientId % colors.length}`

export interface ListedParticipant {
  readonly clientId: number
  readonly name: string
  readonly isSelf: boolean
}

/** All users on the document, the user of this window first. */
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

/** The awareness state of other clients may have any value, or none. */
function nameOf(user: unknown): string {
  const name = (user as { readonly name?: unknown } | undefined)?.name
  return typeof name === 'string' && name !== '' ? name : 'Somebody'
}
