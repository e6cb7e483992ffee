import type { UserDataScope, UserDataSource } from '../../directory/user-data/user-data-source.ts'
import { organizationPrefix } from '../../model/address.ts'
import { keyName } from '../../store/key-encoding.ts'
import type { DocumentPresenceEntry, PresenceRegistry } from './presence-registry.ts'

/** Returns the source of the current presence of a user. */
export const presenceSource = (presence: PresenceRegistry): UserDataSource<UserDataScope> => ({
  name: 'presence',
  async list(place, userId, { after, limit }) {
    const found = (await presence.ofUser(place, userId))
      .map((on) => ({ on, position: positionOf(on) }))
      .filter(({ position }) => after === undefined || position > after)
      .toSorted((a, b) => (a.position < b.position ? -1 : 1))
    const page = found.slice(0, limit)
    const items = page.map(({ on: { document, entry } }) => ({
      kind: 'presence' as const,
      organizationId: document.organizationId,
      documentId: document.documentId,
      data: entry,
    }))
    return { items, next: found.length > limit ? (page.at(-1)?.position ?? null) : null }
  },
  erase: async (place, userId) => presence.eraseUser(place, userId),
})

const positionOf = ({ document }: DocumentPresenceEntry): string =>
  keyName([...organizationPrefix(document), document.documentId])
