import type { Api } from '../api.ts'
import { address } from './place.ts'

/** Who a window of the playground is. */
export interface Guest {
  readonly name: string
  /** For the websocket; empty where the server asks for none. */
  readonly token: string
}

const manners = ['Brave', 'Calm', 'Curious', 'Gentle', 'Keen', 'Lively', 'Merry', 'Quick', 'Quiet', 'Sunny']
const animals = ['Badger', 'Crane', 'Dolphin', 'Falcon', 'Heron', 'Lynx', 'Marten', 'Otter', 'Robin', 'Tapir']

const oneOf = (words: readonly string[], random: () => number): string =>
  words[Math.floor(random() * words.length)] as string

/** Such as `Curious Otter`. @param random as `Math.random` */
export const friendlyName = (random: () => number = Math.random): string =>
  `${oneOf(manners, random)} ${oneOf(animals, random)}`

/** Somebody new, who may edit the document of the playground and see no other. @throws CallError */
export async function newGuest(api: Api): Promise<Guest> {
  const name = friendlyName()
  const userId = `playground-${crypto.getRandomValues(new Uint32Array(2)).join('-')}`
  const { organizationId, documentId } = address
  const { token } = await api.call<{ readonly token: string }>('/v2/auth/generate_token', {
    userId,
    userProperties: { name, email: `${userId}@example.com` },
    permissions: { resources: [{ type: 'document', id: documentId, organizationId, accessRole: 'editor' }] },
  })
  return { name, token }
}

/** What the part of an address behind `#` says of who a window is to be. */
export type Wanted =
  | { readonly kind: 'guest'; readonly guest: Guest }
  /** Not who the window was opened by, whose storage was copied. */
  | { readonly kind: 'another' }
  | { readonly kind: 'kept' }

export const another = '#another'

export function wantedOf(hash: string): Wanted {
  if (hash === another) return { kind: 'another' }
  const given = new URLSearchParams(hash.slice(1))
  const [name, token] = [given.get('name'), given.get('token')]
  return token === null ? { kind: 'kept' } : { kind: 'guest', guest: { name: name || friendlyName(), token } }
}

/** The part behind `#` that has a window be somebody, also in a browser that has no credentials. */
export const hashOf = ({ name, token }: Guest): string => `#${new URLSearchParams({ name, token })}`
