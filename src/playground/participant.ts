import type { ApiClient } from '../console/api/client.ts'
import { playgroundAddress } from './playground-document.ts'

/** The user of a playground window. */
export interface Participant {
  readonly name: string
  /** Token for the websocket; empty if the server requires none. */
  readonly token: string
}

const manners = ['Brave', 'Calm', 'Curious', 'Gentle', 'Keen', 'Lively', 'Merry', 'Quick', 'Quiet', 'Sunny']
const animals = ['Badger', 'Crane', 'Dolphin', 'Falcon', 'Heron', 'Lynx', 'Marten', 'Otter', 'Robin', 'Tapir']

const oneOf = (words: readonly string[], random: () => number): string =>
  words[Math.floor(random() * words.length)] as string

/** Such as `Curious Otter`. @param random as `Math.random` */
export const friendlyName = (random: () => number = Math.random): string =>
  `${oneOf(manners, random)} ${oneOf(animals, random)}`

/** Creates a new user who may edit the document of the playground and no other. @throws ApiCallError */
export async function newParticipant(api: ApiClient): Promise<Participant> {
  const name = friendlyName()
  const userId = `playground-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  const { organizationId, documentId } = playgroundAddress
  const permissions = {
    resources: [{ type: 'document', id: documentId, organizationId, accessRole: 'editor' }],
  }
  // The token grants only permissions that its user also has: none if new documents are restricted.
  await api.call('/v2/auth/permissions/add', { user: { userId }, permissions, createMissing: true })
  const { token } = await api.call<{ readonly token: string }>('/v2/auth/generate_token', {
    userId,
    userProperties: { name, email: `${userId}@example.com` },
    permissions,
  })
  return { name, token }
}

/** The identity that the part of an address after `#` requests. */
export type RequestedIdentity =
  | { readonly kind: 'guest'; readonly participant: Participant }
  /** Not the identity of the opener, whose storage the browser copied. */
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

/** Returns the part after `#` that gives a window an identity, also in a browser without credentials. */
export const identityHash = ({ name, token }: Participant): string =>
  `#${new URLSearchParams({ name, token })}`
