import { expect, it } from 'vitest'
import { Removal } from '../../../src/directory/removal.ts'
import { eventually } from '../../support/clients.ts'
import { directoryOn, scopeOf, type TestDirectory, tenant } from '../../support/directory.ts'
import { sharedNodes } from '../../support/nodes.ts'

const scope = scopeOf(tenant, 'acme')

it('[CS-54] who stood still while another node ended a removal leaves the record of what was made anew', async () => {
  const [here, there] = (await sharedNodes(2)).map(({ engine }) => directoryOn(engine)) as [
    TestDirectory,
    TestDirectory,
  ]
  await here.organizations.ensure(scope)
  const add = () => there.documents.add(scope, [{ documentId: 'd' }], { createFolder: false })
  await add()
  const { log } = here.engine
  let [destroyed, goOn] = [0, (): void => {}]
  const still = new Promise<void>((resolve) => {
    goOn = resolve
  })
  const standing: typeof log = Object.assign(Object.create(log), {
    destroyPrefix: async (...asked: Parameters<typeof log.destroyPrefix>) => {
      const next = await log.destroyPrefix(...asked)
      destroyed += 1
      if (destroyed === 2) await still
      return next
    },
  })
  const nothing = (): Promise<void> => Promise.resolve()
  const { engine, store } = here
  const removal = new Removal({ ...engine, log: standing, store, forget: nothing, forgetDocument: nothing })
  const deleting = there.documents.delete(scope, ['d'])
  await eventually(async () => (await there.documents.get(scope, ['d'])).length === 0)
  const late = removal.carryOut({ kind: 'documents', scope, documentIds: ['d'] }, nothing)
  await eventually(() => destroyed === 2)
  there.removals.start()
  await deleting
  expect(await add()).toMatchObject({ d: { success: true } })
  goOn()
  await late
  expect(await here.documents.get(scope, ['d'])).toHaveLength(1)
  await there.removals.stop()
})
