import { expect, it } from 'vitest'
import { BackupWriter, readBackupParts } from '../../../src/capabilities/backups/storage/backup-file.ts'

it('[STORE-3] when a backup is damaged, closes its file', async () => {
  const start = new BackupWriter().part({ kind: 'header', header: { format: 2, madeAt: 0 } })
  const damaged = start.fill(1, start.length - 1)
  let isClosed = false
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield damaged
      yield new Uint8Array(1)
    } finally {
      isClosed = true
    }
  }
  const read = async (): Promise<void> => {
    for await (const part of readBackupParts(chunks())) expect(part).toBeUndefined()
  }
  await expect(read()).rejects.toThrow('a checksum is wrong')
  expect(isClosed).toBe(true)
})
