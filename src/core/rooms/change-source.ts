import * as s from '../base/schema.ts'
import type { OrganizationScope } from '../directory/organizations/organization-keys.ts'
import { readPagePosition } from '../directory/store/list-page.ts'
import type { UserDataSource } from '../directory/user-data/user-data-source.ts'
import type { OwnerWork } from '../jobs/owner-work.ts'
import type { CheckLease } from '../jobs/task-worker.ts'
import { organizationPrefix } from '../model/address.ts'
import { addressSchemas, keySchema } from '../model/address-schemas.ts'
import { type DocumentLog, type Key, StoreUnavailableError } from '../store/engine.ts'
import { type AuthorShare, isNamedIn, shareOf } from '../update/attribution/attribution.ts'
import { readAttribution } from './log/read-attribution.ts'
import type { RoomRegistry } from './registry/room-registry.ts'

/** Maximum number of editors that one page of a listing reads. */
const readPerPage = 50
/** Maximum number of tries to rewrite the log of an editor. A try fails if users edit or compact it meanwhile. */
const triesMax = 5
/** Maximum bytes of entries in one read of a log. */
const pageBytes = 1_048_576

/** Removes a user from the log of an editor that the owner of its document has opened. */
type ForgetAuthor = (given: s.TypeOf<typeof forgottenSchema>) => Promise<void>

const forgottenSchema = s.object({ address: addressSchemas.document, userId: s.string })

/**
 * Returns the source of the changes that a user has made in documents. An erasure rewrites the log of each
 * editor with an unknown author instead of the user, and discards the older versions of the log.
 */
export function changeSource(
  log: DocumentLog,
  rooms: Pick<RoomRegistry, 'use'>,
  ownerWork: OwnerWork,
): UserDataSource<OrganizationScope> {
  const forget: ForgetAuthor = ownerWork.define('forgetAuthor', forgottenSchema, ({ address, userId }) =>
    rooms.use(address, (room) => room.forgetAuthor(userId)),
  )
  /** The last editor that a task of erasure has finished. Another task starts with the first editor. */
  const positions = new WeakMap<CheckLease, { readonly place: string; readonly doc: Key }>()
  return {
    name: 'changes',
    async list(scope, userId, { after, limit }) {
      const prefix = organizationPrefix(scope)
      const from = after === undefined ? {} : { after: [...prefix, ...readPagePosition(keySchema, after)] }
      const docs = await log.list(prefix, { ...from, limit: Math.min(limit, readPerPage) })
      const items = []
      for (const doc of docs) {
        const { inserted, deleted, isNamed } = await namedShareOf(log, doc, userId)
        const [documentId = '', editorId = ''] = doc.slice(prefix.length)
        const { organizationId } = scope
        if (isNamed)
          items.push({
            kind: 'change' as const,
            organizationId,
            documentId,
            data: { editorId, inserted, deleted },
          })
      }
      const last = docs.at(-1)
      const isLast = last === undefined || docs.length < Math.min(limit, readPerPage)
      return { items, next: isLast ? null : JSON.stringify(last.slice(prefix.length)) }
    },
    async erase(scope, userId, goOn) {
      const prefix = organizationPrefix(scope)
      const place = JSON.stringify([...prefix, userId])
      for (;;) {
        const last = positions.get(goOn)
        const [doc] = await log.list(prefix, { ...(last?.place === place && { after: last.doc }), limit: 1 })
        positions.delete(goOn)
        if (doc === undefined) return 0
        const isChanged = await eraseFrom(log, forget, doc, userId)
        positions.set(goOn, { place, doc })
        if (isChanged) return 1
        await goOn()
      }
    },
  }
}

/** Removes a user from the log of an editor. Returns whether the log named the user. */
async function eraseFrom(log: DocumentLog, forget: ForgetAuthor, doc: Key, userId: string): Promise<boolean> {
  let tries = 0
  for (; (await namedShareOf(log, doc, userId)).isNamed; tries++) {
    if (tries === triesMax) throw new StoreUnavailableError('the log of an editor changes too often')
    const [workspaceId = '', apiKey = '', organizationId = '', documentId = '', editorId = ''] = doc
    await forget({ address: { workspaceId, apiKey, organizationId, documentId, editorId }, userId })
  }
  return tries > 0
}

interface NamedShare extends AuthorShare {
  /** True if the log names the user, also if the user's changes have no effect any more. */
  readonly isNamed: boolean
}

async function namedShareOf(log: DocumentLog, doc: Key, userId: string): Promise<NamedShare> {
  const share = shareOf(await readAttribution(log, doc), userId)
  const isNamed = share.inserted + share.deleted > 0 || (await isInEntries(log, doc, userId))
  return { ...share, isNamed }
}

/** Returns whether the log has an entry of the user, or the user of its last change is that user. */
async function isInEntries(log: DocumentLog, doc: Key, userId: string): Promise<boolean> {
  const [head = null] = await log.heads([doc])
  if (head === null) return false
  for (let since = head.oldest; ; ) {
    const page = await log.load(doc, { since, epoch: head.epoch, bytesMax: pageBytes })
    if (page.state !== 'live') return false
    if (page.changed.by === userId || page.entries.some((entry) => isNamedIn(entry, userId))) return true
    const last = page.entries.at(-1)
    if (!page.more || last === undefined) return false
    since = last.seq
  }
}
