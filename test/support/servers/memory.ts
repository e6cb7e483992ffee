import { createMemoryAccounts, type MemoryLedger } from '../../../src/core/quota/memory-bounds.ts'

/** Creates memory accounts. Their limits are so high that no test reaches them. */
export const roomyAccounts = (): MemoryLedger =>
  createMemoryAccounts(
    2 ** 30,
    {
      messageBytesMax: 2 ** 20,
      bodyBytesMax: 2 ** 20,
      documentBytesMax: 2 ** 20,
      sendBufferBytesMax: 2 ** 20,
    },
    () => {},
  )
