import { afterAll, beforeAll, expect, it } from 'vitest'
import { newOrganization, statusOf } from '../../support/data/folder-tree.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

/** Takes twice its bytes as JSON. */
const long = (id: string) => id.padEnd(512, '"')
const wide = (count: number, parentFolderId: string, folderName = '') =>
  Array.from({ length: count }, (_, index) => ({ folderId: `f${index}`, parentFolderId, folderName }))
const advice = {
  body: { error: { message: expect.stringContaining('request fewer levels, or all folders') } },
}

it('[FOLD-16] returns all folders without a limit, but limits the subfolders that it returns for one folder', async () => {
  const { addFolders, v1, v2, folders } = await newOrganization(server)
  const chain = Array.from({ length: 31 }, (_, index) => ({
    folderId: long(`c${index}`),
    parentFolderId: index === 0 ? 'root' : long(`c${index - 1}`),
  }))
  await addFolders(...chain)
  await addFolders(...wide(450, long('c30')))
  expect(await folders()).toHaveLength(481)
  await addFolders(...wide(500, long('c30')))
  await addFolders(...wide(100, long('c29')).map((each) => ({ ...each, folderId: `more ${each.folderId}` })))
  expect(await folders()).toHaveLength(631)
  const answer = await v2('folders/get', { folderId: long('c0'), maxDepth: 31 })
  expect(statusOf(answer)).toBe('FAILED_PRECONDITION')
  expect(answer).toMatchObject(advice)
  expect(await folders({ folderId: long('c0') })).toHaveLength(1)
  expect((await folders({ folderId: long('c29') }))[0]?.subFolders).toHaveLength(101)
  expect(dataOf(await v1('folders/get'))).toHaveLength(631)
})

it('[FOLD-16] in version 1, returns all folders; rejects a request for one folder with too many subfolders, and states what to request', async () => {
  const { addFolders, v1 } = await newOrganization(server)
  const name = '\u0001'.repeat(1_000)
  await addFolders({ folderId: 'top' })
  for (let part = 0; part < 6; part++)
    await addFolders(
      ...wide(500, 'top', name).map((each) => ({ ...each, folderId: `${part} ${each.folderId}` })),
    )
  const answer = await v1('folders/get', { folderId: 'top' })
  expect(statusOf(answer)).toBe('FAILED_PRECONDITION')
  expect(answer).toMatchObject(advice)
  expect(dataOf(await v1('folders/get'))).toHaveLength(3_001)
  expect(dataOf(await v1('folders/get', { folderId: '0 f0' }))).toHaveLength(1)
})
