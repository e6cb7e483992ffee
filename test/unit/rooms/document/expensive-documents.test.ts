import { expect, it } from 'vitest'
import { createLog } from '../../../../src/core/base/log.ts'
import { createMetrics } from '../../../../src/core/metrics/metrics.ts'
import { addressKey, type DocumentAddress } from '../../../../src/core/model/address.ts'
import { ExpensiveDocuments } from '../../../../src/core/rooms/document/unreadable-documents.ts'
import { keyName } from '../../../../src/core/store/key-encoding.ts'

const addressOf = (index: number): DocumentAddress => ({
  workspaceId: 'w',
  apiKey: 'k',
  organizationId: 'acme',
  documentId: `document ${index}`,
  editorId: 'main',
})
const keyOf = (index: number): string => keyName(addressKey(addressOf(index)))

it('[ROOM-55] keeps ten thousand expensive documents in memory, and drops the least recently used one', async () => {
  const metrics = createMetrics()
  const documents = new ExpensiveDocuments({ metrics, logger: createLog('silent') })
  const count = async (): Promise<number | undefined> =>
    (await metrics.documentsExpensive.get()).values[0]?.value
  for (let index = 0; index < 10_000; index += 1) documents.add(addressOf(index))
  expect([await count(), documents.has(keyOf(0))]).toEqual([10_000, true])
  documents.add(addressOf(10_000))
  expect([0, 1, 2, 10_000].map((index) => documents.has(keyOf(index)))).toEqual([true, false, true, true])
  expect(await count()).toBe(10_000)
  documents.delete(keyOf(0))
  expect([documents.has(keyOf(0)), await count()]).toEqual([false, 9_999])
})
