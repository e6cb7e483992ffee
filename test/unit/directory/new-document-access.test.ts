import { expect, it } from 'vitest'
import { accessTopic, documentFences } from '../../../src/core/directory/organizations/access-change.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, tenant } from '../../support/data/directory.ts'

const scope = { ...tenant, organizationId: 'acme' }

async function changesOf(defaultAccess: 'public' | 'restricted', accessType?: 'public' | 'restricted') {
  const engine = await openMemoryEngine()
  const { documents, organizations } = directoryOn(engine, undefined, defaultAccess)
  await organizations.ensure(scope)
  const changed: string[] = []
  accessTopic.subscribe(engine.bus, ({ documents: ids }) => changed.push(...ids))
  const fence = await engine.fences.read(documentFences(scope, 'new'))
  if (accessType === undefined) await documents.ensure(scope, 'new')
  else await documents.add(scope, [{ documentId: 'new', accessType }], { createFolder: false })
  await new Promise((resolve) => setImmediate(resolve))
  return { changed, isFenced: !engine.fences.isCurrent(fence) }
}

it('[ACC-77] a new document with the rights that it had without a record causes no new check of rights', async () => {
  expect(await changesOf('public')).toEqual({ changed: [], isFenced: false })
})

it('[ACC-77] a new document with other rights causes a new check of the rights of all connected users', async () => {
  expect(await changesOf('public', 'restricted')).toEqual({ changed: ['new'], isFenced: true })
  expect(await changesOf('restricted')).toEqual({ changed: ['new'], isFenced: true })
  expect((await changesOf('restricted', 'public')).changed).toEqual(['new'])
})
