import { expect, it } from 'vitest'
import type { Engine } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'
import { directoryOn, tenant } from '../../support/data/directory.ts'

const scope = { ...tenant, organizationId: 'acme' }

it('[ACC-74] creates missing records once, and finds existing records with a single read', async () => {
  const engine = await openMemoryEngine()
  const calls: string[] = []
  const note = <A extends unknown[], R>(name: string, call: (...parameters: A) => R) => {
    return (...parameters: A): R => {
      calls.push(name)
      return call(...parameters)
    }
  }
  const counted: Engine = {
    ...engine,
    kv: {
      get: note('get', (part, keys) => engine.kv.get(part, keys)),
      scan: note('scan', (part, range) => engine.kv.scan(part, range)),
      commit: note('commit', (part, commit) => engine.kv.commit(part, commit)),
    },
  }
  const { documents, organizations } = directoryOn(counted)
  await Promise.all(Array.from({ length: 10 }, () => documents.ensure(scope, 'report')))
  const [made] = await documents.get(scope, ['report'])
  expect(made).toMatchObject({ record: { documentId: 'report', folderId: 'root' }, accessType: 'public' })
  expect(await organizations.get(tenant, ['acme'])).toMatchObject([{ organizationId: 'acme' }])
  calls.length = 0
  await documents.ensure(scope, 'report')
  expect(calls).toEqual(['get'])
  await documents.ensure(scope, 'another')
  expect((await documents.get(scope, ['report', 'another'])).map(({ record }) => record.documentId)).toEqual([
    'report',
    'another',
  ])
})

it('[ACC-74] creates nothing in a document or organization that is being deleted', async () => {
  const engine = await openMemoryEngine()
  const destroyPrefix = () => new Promise<null>(() => {})
  const held: Engine = {
    ...engine,
    log: Object.assign(Object.create(engine.log) as Engine['log'], { destroyPrefix }),
  }
  const { documents, organizations } = directoryOn(held)
  await documents.ensure(scope, 'report')
  void documents.delete(scope, ['report'])
  await expect.poll(async () => (await documents.get(scope, ['report'])).length).toBe(0)
  await expect(documents.ensure(scope, 'report')).rejects.toMatchObject({ status: 'ABORTED' })
  await documents.ensure(scope, 'other')
  void organizations.delete(tenant, ['acme'])
  await expect.poll(async () => (await organizations.get(tenant, ['acme'])).length).toBe(0)
  await expect(documents.ensure(scope, 'other')).rejects.toMatchObject({ status: 'ABORTED' })
  await expect(documents.ensure(scope, 'new')).rejects.toMatchObject({ status: 'ABORTED' })
})
