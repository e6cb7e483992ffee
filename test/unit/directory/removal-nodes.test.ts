import { expect, it } from 'vitest'
import { keys } from '../../../src/core/directory/organizations/organization-keys.ts'
import { RemovalLocks } from '../../../src/core/directory/removal/removal-locks.ts'
import type { RemovalTask } from '../../../src/core/directory/removal/removal-task.ts'
import { directoryOn, scopeOf, type TestDirectory, tenant } from '../../support/data/directory.ts'
import { sharedNodes } from '../../support/servers/simulated-network.ts'

const scope = scopeOf(tenant, 'acme')
const task: RemovalTask = { kind: 'documents', scope, documentIds: ['d'] }

it('[CS-52] does not create an organization again while another node removes its content', async () => {
  const [here, there] = (await sharedNodes(2)).map(({ engine }) => directoryOn(engine)) as [
    TestDirectory,
    TestDirectory,
  ]
  await here.organizations.ensure(scope)
  let end = (): void => {}
  let removing: Promise<void> = Promise.resolve()
  await new Promise<void>((begun) => {
    const work = () =>
      new Promise<void>((resolve) => {
        end = resolve
        begun()
      })
    removing = new RemovalLocks(here.store).during(task, work)
  })
  there.removals.start()
  let isDeleted = false
  const deleting = there.organizations.delete(tenant, ['acme']).then((results) => {
    isDeleted = true
    return results
  })
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(isDeleted).toBe(false)
  await expect(here.organizations.ensure(scope)).rejects.toThrow('being deleted')
  // No work can begin in it any more, because the organization is removed.
  await new RemovalLocks(here.store).during({ ...task, documentIds: ['e'] }, () => {
    throw new Error('it has begun')
  })
  end()
  await removing
  expect(await deleting).toMatchObject({ acme: { success: true } })
  await here.organizations.ensure(scope)
  expect(await here.store.read(scope).scan({ prefix: keys.removals, limit: 1 })).toEqual([])
  await there.removals.stop()
})
