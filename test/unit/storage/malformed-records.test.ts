import { expect, it } from 'vitest'
import {
  type BackupHeader,
  BackupWriter,
  readBackupParts,
} from '../../../src/capabilities/backups/storage/backup-file.ts'
import { StorageError } from '../../../src/capabilities/backups/storage/storage-error.ts'
import { listRecords } from '../../../src/core/audit/listing.ts'
import { auditKeys, auditPart } from '../../../src/core/audit/record.ts'
import { MalformedJsonError, readJson } from '../../../src/core/base/json.ts'
import * as s from '../../../src/core/base/schema.ts'
import { readPagePosition } from '../../../src/core/directory/store/list-page.ts'
import { CorruptRecordError } from '../../../src/core/store/engine.ts'
import { openMemoryEngine } from '../../../src/core/store/memory/engine.ts'

const schema = s.object({ id: s.string, places: s.array(s.object({ at: s.number })) })

it('[STORE-23] rejects malformed stored data with the position of the problem, and without the stored values', () => {
  const problemOf = (text: string): string => {
    try {
      readJson(schema, text)
    } catch (error) {
      if (error instanceof MalformedJsonError) return error.message
    }
    return ''
  }
  expect(problemOf('{"id":"a","places":[{"at":1},{"at":"secret"}]}')).toBe('places.1.at must be number')
  expect(problemOf('{"places":[]}')).toBe('id must be present')
  expect(problemOf('["secret"]')).toBe('the value must be object')
  expect(problemOf('{"id": secret}')).toBe('line 1, column 8: expected a value')
})

it('[STORE-23] keeps members that a newer version of the server adds', () => {
  const value = { id: 'a', places: [{ at: 1, constructor: 'b' }], added: { later: true } }
  expect(readJson(schema, Buffer.from(JSON.stringify(value)))).toEqual(value)
})

it('[STORE-23] rejects a malformed audit record as corrupt', async () => {
  const engine = await openMemoryEngine()
  const { kv } = engine
  const part = auditPart(null)
  await kv.commit(part, { puts: [{ key: auditKeys.record('1'), value: Buffer.from('{"id":"1"}') }] })
  const range = { order: 'asc', after: undefined, limit: 10 } as const
  await expect(listRecords(kv, part, {}, range)).rejects.toThrow(CorruptRecordError)
  await engine.close()
})

it('[STORE-23] rejects a malformed part of a backup as damaged, even if its checksum is correct', async () => {
  const header: object = { format: '2' }
  const bytes = new BackupWriter().part({ kind: 'header', header: header as BackupHeader })
  const read = async (): Promise<void> => {
    for await (const part of readBackupParts(
      (async function* () {
        yield bytes
      })(),
    ))
      expect(part).toBeUndefined()
  }
  await expect(read()).rejects.toThrow(StorageError)
})

it('[STORE-23] rejects with INVALID_ARGUMENT a page token whose position is malformed', () => {
  expect(() => readPagePosition(s.tuple([s.number]), '["1"]')).toThrow(
    expect.objectContaining({ status: 'INVALID_ARGUMENT', code: 'request/page-token' }),
  )
})
