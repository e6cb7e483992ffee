import { expect, it } from 'vitest'
import { keys, organizationPart } from '../../../src/core/directory/organizations/organization-keys.ts'
import { putGrant } from '../../../src/core/directory/permissions/grants.ts'
import { CascadeRemoval } from '../../../src/core/directory/removal/cascade-removal.ts'
import { copyLogs } from '../../../src/core/directory/removal/copy-stored.ts'
import { DeletionStore } from '../../../src/core/directory/removal/deletion-store.ts'
import { documentPrefix } from '../../../src/core/model/address.ts'
import type { DocumentLog, Engine, Key } from '../../../src/core/store/engine.ts'
import { keyName } from '../../../src/core/store/key-encoding.ts'
import { eventually, typed } from '../../support/clients/clients.ts'
import { directoryOn, scopeOf, tenant } from '../../support/data/directory.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'
import { delegatedLog } from '../../support/stores/delegated-log.ts'
import { gate } from '../../support/time/gate.ts'

const scope = scopeOf(tenant, 'acme')

/** The same engine with another `destroyPrefix`. */
const withLog = (engine: Engine, destroyPrefix: DocumentLog['destroyPrefix']): Engine => ({
  ...engine,
  log: Object.assign(Object.create(engine.log) as DocumentLog, { destroyPrefix }),
})

it('[CS-54] when a paused node continues an earlier removal, keeps the record of a document that was created again', async () => {
  const [one, two] = (await sharedNodes(2)).map(({ engine }) => engine) as [Engine, Engine]
  const [stands, goOn] = [gate(), gate()]
  const here = directoryOn(one)
  // The removal of this node waits until the other node has paused.
  const there = directoryOn(
    withLog(two, async (...asked) => {
      await stands.opened
      return two.log.destroyPrefix(...asked)
    }),
  )
  await here.organizations.ensure(scope)
  const add = () => there.documents.add(scope, [{ documentId: 'd' }], { createFolder: false })
  await add()
  let destroyed = 0
  const standing = withLog(one, async (...asked) => {
    const next = await one.log.destroyPrefix(...asked)
    destroyed += 1
    if (destroyed === 2) stands.open()
    if (destroyed === 2) await goOn.opened
    return next
  })
  const nothing = (): Promise<void> => Promise.resolve()
  const { store } = here
  const removal = new CascadeRemoval(standing, store, [], new DeletionStore(standing.kv, store))
  const deleting = there.documents.delete(scope, ['d'])
  await eventually(async () => (await there.documents.get(scope, ['d'])).length === 0)
  const late = removal.carryOut({ kind: 'documents', scope, documentIds: ['d'] }, nothing)
  await deleting
  expect(await add()).toMatchObject({ results: { d: { success: true } } })
  goOn.open()
  await late
  expect(await here.documents.get(scope, ['d'])).toHaveLength(1)
  await there.removals.stop()
})

it('[CS-54] when a paused node continues an earlier removal, keeps the permissions on a document that was created again', async () => {
  const [one, two] = (await sharedNodes(2)).map(({ engine }) => engine) as [Engine, Engine]
  const [stands, continues] = [gate(), gate()]
  const here = directoryOn(one)
  const there = directoryOn(
    withLog(two, async (...asked) => {
      await stands.opened
      return two.log.destroyPrefix(...asked)
    }),
  )
  await here.organizations.ensure(scope)
  const add = () => there.documents.add(scope, [{ documentId: 'd' }], { createFolder: false })
  await add()
  const standing = withLog(one, async (...asked) => {
    const next = await one.log.destroyPrefix(...asked)
    stands.open()
    await continues.opened
    return next
  })
  const removal = new CascadeRemoval(standing, here.store, [], new DeletionStore(one.kv, here.store))
  const deleting = there.documents.delete(scope, ['d'])
  await eventually(async () => (await there.documents.get(scope, ['d'])).length === 0)
  const late = removal.carryOut({ kind: 'documents', scope, documentIds: ['d'] }, () => Promise.resolve())
  await deleting
  await add()
  const resource = { type: 'document', id: 'd' } as const
  await here.store.change(scope, (transaction) =>
    putGrant(transaction, resource, { type: 'user', id: 'ada' }, { accessRole: 'viewer', expiresAt: null }),
  )
  continues.open()
  await late
  const grants = await here.store.read(scope).scan({ prefix: keys.grantsOn(resource), limit: 2 })
  expect(grants).toHaveLength(1)
  await there.removals.stop()
})

it('[CS-55] when a node pauses after it was allowed to continue a removal, keeps the logs of a document that was created again', async () => {
  const [one, two] = (await sharedNodes(2)).map(({ engine }) => engine) as [Engine, Engine]
  const [stands, goOn] = [gate(), gate()]
  const here = directoryOn(one)
  const there = directoryOn(
    withLog(two, async (...asked) => {
      await stands.opened
      return two.log.destroyPrefix(...asked)
    }),
  )
  await here.organizations.ensure(scope)
  const add = () => there.documents.add(scope, [{ documentId: 'd' }], { createFolder: false })
  await add()
  const editor = [...documentPrefix(scope, 'd'), 'main']
  const another = [...documentPrefix(scope, 'd'), 'another']
  const update = { bytes: typed('text', 1), by: '' }
  await one.log.append(editor, 'create', [update])
  const { store } = here
  const removal = new CascadeRemoval(one, store, [], new DeletionStore(one.kv, store))
  const deleting = there.documents.delete(scope, ['d'])
  await eventually(async () => (await there.documents.get(scope, ['d'])).length === 0)
  let asked = 0
  // The node gets the permission because the other one has not finished. When the node continues, the other
  // one has.
  const late = removal.carryOut({ kind: 'documents', scope, documentIds: ['d'] }, async () => {
    asked += 1
    if (asked > 1) throw new Error('the lease has ended')
    stands.open()
    await goOn.opened
  })
  await stands.opened
  await deleting
  expect(await add()).toMatchObject({ results: { d: { success: true } } })
  await one.log.append(editor, 'recreate', [update])
  await one.log.append(another, 'create', [update])
  goOn.open()
  await expect(late).rejects.toThrow('the lease has ended')
  expect(await one.log.list(documentPrefix(scope, 'd'), { limit: 10 })).toEqual([another, editor])
  await there.removals.stop()
})

for (const [when, permissions] of [
  ['before', 0],
  ['after', 1],
] as const)
  it(`[CS-56] when a node pauses ${when} it is permitted to copy a log, keeps the copy of another node and its changes`, async () => {
    const [one, two] = (await sharedNodes(2)).map(({ engine }) => engine) as [Engine, Engine]
    const places = [documentPrefix(scope, 'd'), documentPrefix(scopeOf(tenant, 'kept'), 'd')] as const
    const [from, to]: [Key, Key] = [
      [...places[0], 'main'],
      [...places[1], 'main'],
    ]
    const [stands, continues] = [gate(), gate()]
    const pause = async (): Promise<void> => {
      stands.open()
      await continues.opened
    }
    const nothing = (): Promise<void> => Promise.resolve()
    const update = { bytes: typed('text', 1), by: '' }
    await one.log.append(from, 'create', [update])
    await copyLogs(one.log, places, nothing)
    const slow: DocumentLog = {
      ...delegatedLog(one.log),
      list: async (...asked) => {
        const found = await one.log.list(...asked)
        if (permissions === 0) await pause()
        return found
      },
    }
    let asked = 0
    const late = copyLogs(slow, places, async () => {
      asked += 1
      if (asked > permissions) throw new Error('the lease has ended')
      await pause()
    }).catch(() => undefined)
    await Promise.race([stands.opened, late])
    await copyLogs(two.log, places, nothing)
    await two.log.destroy(from)
    await two.log.append(to, 2, [update])
    continues.open()
    await late
    expect([asked, await one.log.heads([to])]).toMatchObject([1, [{ epoch: 2, head: 2 }]])
  })

it('[CS-52] when a paused node continues to remove an organization that was created again, keeps the new records', async () => {
  const [one, two] = (await sharedNodes(2)).map(({ engine }) => engine) as [Engine, Engine]
  const [begins, stands, continues] = [gate(), gate(), gate()]
  const here = directoryOn(one)
  const there = directoryOn(
    withLog(two, async (...asked) => {
      begins.open()
      await stands.opened
      return two.log.destroyPrefix(...asked)
    }),
  )
  await here.organizations.ensure(scope)
  const add = () => there.documents.add(scope, [{ documentId: 'd' }], { createFolder: false })
  await add()
  // This node pauses after it has listed what it removes.
  const scan: Engine['kv']['scan'] = async (part, range) => {
    const found = await one.kv.scan(part, range)
    if (range.prefix === undefined && keyName(part) === keyName(organizationPart(scope))) {
      stands.open()
      await continues.opened
    }
    return found
  }
  const { kv } = one
  const slow: Engine = {
    ...one,
    kv: { get: (...asked) => kv.get(...asked), scan, commit: (...asked) => kv.commit(...asked) },
  }
  const removal = new CascadeRemoval(slow, here.store, [], new DeletionStore(one.kv, here.store))
  const deleting = there.organizations.delete(tenant, ['acme'])
  await begins.opened
  const late = removal
    .carryOut({ kind: 'organization', scope }, () => Promise.resolve())
    .catch(() => undefined)
  await deleting
  await here.organizations.ensure(scope)
  expect(await add()).toMatchObject({ results: { d: { success: true } } })
  continues.open()
  await late
  expect(await here.documents.get(scope, ['d'])).toHaveLength(1)
  await there.removals.stop()
})
