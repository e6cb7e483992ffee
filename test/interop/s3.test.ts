import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseKeep, pruneRepository } from '../../src/capabilities/backups/prune.ts'
import { parseS3Location, S3Store } from '../../src/capabilities/backups/s3-store.ts'
import { restoreParts } from '../../src/capabilities/backups/storage/restore.ts'
import { verifyRepository } from '../../src/capabilities/backups/verify-repository.ts'
import type { S3Settings } from '../../src/core/config/s3-settings.ts'
import {
  backUp,
  editDocuments,
  fillStore,
  newFolder,
  openTestRepository,
  removeFolders,
  storedPairs,
} from '../support/stores/backup-repository.ts'
import { describeObjectStore, listed } from '../support/stores/object-store-suite.ts'
import { accessKeyId, type S3Server, secretAccessKey, startS3Server } from './s3-server.ts'

describe('a bucket of s3rver', () => {
  let server: S3Server
  let opened = 0

  beforeAll(async () => {
    server = await startS3Server()
  })
  afterAll(() => server.stop())
  afterEach(removeFolders)

  const settings = (changed: Partial<S3Settings> = {}): S3Settings => ({
    endpoint: server.endpoint,
    region: 'eu-central-1',
    accessKeyId,
    secretAccessKey,
    sessionToken: null,
    ...changed,
  })

  /** Opens a store below a prefix that no other test uses. */
  const open = (changed: Partial<S3Settings> = {}, url = `s3://weft/some/${++opened}`): S3Store =>
    new S3Store(parseS3Location(url), settings(changed))

  // Unlike Amazon S3, s3rver writes into the file of the object.
  describeObjectStore(async () => open(), { pageLength: 1_000, isAtomic: false })

  it('[BKP-30] a prefix does not see the objects of another one, or of the bucket', async () => {
    const [one, longer, bucket] = [open({}, 's3://weft/x'), open({}, 's3://weft/xy'), open({}, 's3://weft')]
    await one.put('a', Buffer.from('1'))
    await longer.put('a', Buffer.from('2'))
    expect([await listed(one, ''), String(await longer.get('a'))]).toEqual([[{ name: 'a', size: 1 }], '2'])
    expect((await listed(bucket, 'x')).map(({ name }) => name)).toEqual(['x/a', 'xy/a'])
  })

  it('[BKP-30] names the bucket and the reason if the service rejects the key, or the bucket does not exist', async () => {
    for (const [store, reason] of [
      [open({ secretAccessKey: 'wrong' }), 'SignatureDoesNotMatch: the signature is wrong'],
      [open({ accessKeyId: 'UNKNOWN' }), 'InvalidAccessKeyId'],
      [open({}, 's3://absent-bucket/p'), 'NoSuchBucket'],
    ] as const) {
      const message = `${store.name} cannot be used: ${reason}`
      await expect(store.put('a', Buffer.from('x'))).rejects.toThrow(message)
      await expect(store.get('a')).rejects.toThrow(message)
      await expect(listed(store, '')).rejects.toThrow(message)
      await expect(store.delete('a')).rejects.toThrow(message)
    }
  })

  it('[BKP-31] repeats a request after an error of the service or the connection, and gives up after five attempts', async () => {
    const store = open()
    const large = Buffer.alloc(3_000_000, 'x')
    server.faults.push('unavailable', 'reset', 'unavailable')
    await store.put('a', large)
    server.faults.push('reset', 'cut', 'cut')
    expect((await store.get('a'))?.equals(large)).toBe(true)
    server.faults.push('cut')
    expect(await listed(store, '')).toEqual([{ name: 'a', size: large.length }])
    server.requests.length = 0
    server.faults.push(...Array.from({ length: 5 }, () => 'unavailable' as const))
    await expect(store.get('a')).rejects.toThrow('cannot be used: HTTP 503')
    expect(server.requests).toHaveLength(5)
    await expect(open({ endpoint: 'http://127.0.0.1:1' }).get('a')).rejects.toThrow('cannot be used: ')
  })

  it('[BKP-32] backs up a store, restores it after it was lost, and prunes', async () => {
    const data = await newFolder()
    await fillStore(data, 60, 100_000)
    const repository = await openTestRepository(open())
    const first = await backUp(repository, data)
    await editDocuments(data, [7])
    const second = await backUp(repository, data, 'new')
    console.log(`to a bucket: ${first.newChunks} chunks (${first.newBytes} bytes), then ${second.newChunks}`)
    expect(second.newChunks).toBeLessThan(first.newChunks)
    const before = await storedPairs(data)
    rmSync(data, { recursive: true })
    const restored = join(await newFolder(), 'restored')
    await restoreParts((await repository.open(null)).parts(), restored, 'the second')
    expect(await storedPairs(restored)).toEqual(before)
    expect(await verifyRepository(repository, () => undefined)).toMatchObject({ backups: 2, damages: [] })
    const pruned = await pruneRepository(repository, { keep: parseKeep('1d'), dropDamaged: false })
    expect(pruned).toMatchObject({ removed: [first.id], kept: [second.id] })
    expect(await verifyRepository(repository, () => undefined)).toMatchObject({
      backups: 1,
      damages: [],
      unusedChunks: 0,
    })
  })
})
