import type { Awareness } from 'y-protocols/awareness'
import type { ApiClient } from '../api/client.ts'
import { playgroundAddress } from './playground-document.ts'

/** The user of a playground window. */
export interface Participant {
  readonly name: string
  /** Token for the websocket; empty if the server requires no token. */
  readonly token: string
}

const manners = ['Brave', 'Calm', 'Curious', 'Gentle', 'Keen', 'Lively', 'Merry', 'Quick', 'Quiet', 'Sunny']
const animals = ['Badger', 'Crane', 'Dolphin', 'Falcon', 'Heron', 'Lynx', 'Marten', 'Otter', 'Robin', 'Tapir']

const oneOf = (words: readonly string[], random: () => number): string =>
  words[Math.floor(random() * words.length)] as string

/** Returns a random name, such as `Curious Otter`. @param random a function like `Math.random` */
export const friendlyName = (random: () => number = Math.random): string =>
  `${oneOf(manners, random)} ${oneOf(animals, random)}`

/**
 * Creates a new user who may edit the document of the playground, and no other document.
 * @throws ApiCallError
 */
export async function newParticipant(api: ApiClient): Promise<Participant> {
  const name = friendlyName()
  const userId = `playground-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  const { organizationId, documentId } = playgroundAddress
  const permissions = {
    resources: [{ type: 'document', id: documentId, organizationId, accessRole: 'editor' }],
  }
  // A token grants only permissions that its user also has. If access to new documents is restricted, the
  // user has none, so the permission is added first.
  await api.call('/v2/auth/permissions/add', { user: { userId }, permissions, createMissing: true })
  const { token } = await api.call<{ readonly token: string }>('/v2/auth/generate_token', {
    userId,
    userProperties: { name, email: `${userId}@example.com` },
    permissions,
  })
  return { name, token }
}

/** The identity that the address of a window requests in the part after `#`. */
type RequestedIdentity =
  | { readonly kind: 'guest'; readonly participant: Participant }
  /**
   * A new identity. The stored identity cannot be used, because it belongs to the window that opened this
   * one: the browser copied its session storage.
   */
  | { readonly kind: 'another' }
  | { readonly kind: 'kept' }

export const otherParticipantHash = '#another'

export function parseIdentityHash(hash: string): RequestedIdentity {
  if (hash === otherParticipantHash) return { kind: 'another' }
  const given = new URLSearchParams(hash.slice(1))
  const [name, token] = [given.get('name'), given.get('token')]
  return token === null
    ? { kind: 'kept' }
    : { kind: 'guest', participant: { name: name || friendlyName(), token } }
}

/**
 * Returns the part of an address after `#` that gives a window this identity. It also works in a browser
 * without credentials.
 */
export const identityHash = ({ name, token }: Participant): string =>
  `#${new URLSearchParams({ name, token })}`

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
