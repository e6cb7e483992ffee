import { expect, it } from 'vitest'
import { Removal } from '../../../src/directory/removal.ts'
import type { DocumentLog, Engine } from '../../../src/engine/engine.ts'
import { eventually } from '../../support/clients.ts'
import { directoryOn, scopeOf, tenant } from '../../support/directory.ts'
import { gate } from '../../support/gate.ts'
import { sharedNodes } from '../../support/nodes.ts'

const scope = scopeOf(tenant, 'acme')

/** The same engine, but for how its documents are destroyed. */
const withLog = (engine: Engine, destroyPrefix: DocumentLog['destroyPrefix']): Engine => ({
  ...engine,
  log: Object.assign(Object.create(engine.log) as DocumentLog, { destroyPrefix }),
})

it('[CS-54] who stood still while another node ended a removal leaves the record of what was made anew', async () => {
  const [one, two] = (await sharedNodes(2)).map(({ engine }) => engine) as [Engine, Engine]
  const [stands, goOn] = [gate(), gate()]
  const here = directoryOn(one)
  // It does not end before the other one stands still.
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
  const removal = new Removal({ ...standing, store, forget: nothing, forgetDocument: nothing })
  const deleting = there.documents.delete(scope, ['d'])
  await eventually(async () => (await there.documents.get(scope, ['d'])).length === 0)
  const late = removal.carryOut({ kind: 'documents', scope, documentIds: ['d'] }, nothing)
  await deleting
  expect(await add()).toMatchObject({ d: { success: true } })
  goOn.open()
  await late
  expect(await here.documents.get(scope, ['d'])).toHaveLength(1)
  await there.removals.stop()
})
