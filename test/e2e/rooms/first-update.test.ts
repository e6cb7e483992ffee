import { expect, it } from 'vitest'
import { openLevelEngine } from '../../../src/core/store/level/engine.ts'
import {
  type BatchOperation,
  type OpenStore,
  openLevelStore,
} from '../../../src/core/store/level/store/store.ts'
import { temporaryDirectory } from '../../contract/level/store-tools.ts'
import { RawClient, typed } from '../../support/clients/clients.ts'
import { startTestServer } from '../../support/servers/server.ts'

it('[ENG-90] writes the record and the first update of a new document in one batch', async () => {
  const batches: (readonly BatchOperation[])[] = []
  const openStore: OpenStore = async (path) => {
    const store = await openLevelStore(path)
    return {
      ...store,
      write(operations, sync) {
        if (sync) batches.push(operations)
        return store.write(operations, sync)
      },
    }
  }
  const directory = await temporaryDirectory()
  const engine = await openLevelEngine({ directory: directory.path, openStore })
  const server = await startTestServer({}, { engine })
  const write = async (documentId: string) => {
    const token = await server.token('ann')
    const client = await RawClient.connect(`${server.wsUrl}/sync/acme/${documentId}/main?token=${token}`)
    client.sendUpdate(typed(`text of ${documentId}`, 1))
    await client.roundTrip()
  }
  await write('first')
  await write('second')
  const has = (operations: readonly BatchOperation[], text: string) =>
    operations.some(({ value }) => value !== null && Buffer.from(value).includes(text))
  const withUpdate = batches.filter((operations) => has(operations, 'text of second'))
  expect(withUpdate.map((operations) => has(operations, '"documentId":"second","documentName"'))).toEqual([
    true,
  ])
  await server.stop()
  await directory.remove()
})
