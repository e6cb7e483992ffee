import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { restore } from '../../../src/capabilities/backups/storage/restore.ts'
import { verify } from '../../../src/capabilities/backups/storage/verify.ts'
import { formatText, schemaFormat, schemaSteps } from '../../../src/cluster/postgres/schema/format.ts'
import { type Clock, systemClock } from '../../../src/core/base/clock.ts'
import type { Config } from '../../../src/core/config/config.ts'
import { formatVersion } from '../../../src/core/store/pairs/record-codec.ts'
import { eventually } from '../../support/clients/clients.ts'
import { missing } from '../../support/needs.ts'
import { startPostgres } from '../../support/servers/postgres.ts'
import { dataOf, startTestServer } from '../../support/servers/server.ts'
import { countAttempts, postOf, readStore, releasedCredentials } from '../../support/stores/every-record.ts'

const kept = join(import.meta.dirname, '../../contract/fixtures/released')
const root = mkdtempSync(join(tmpdir(), 'weft-released-'))
const ignore = () => undefined

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const unzipped = (name: string): Buffer => gunzipSync(readFileSync(join(kept, name)))

interface Released {
  /** Time at which the store was made, in epoch milliseconds. */
  readonly madeAt: number
  readonly content: Readonly<Record<string, unknown>>
}

const releasedContent = (format: string): Released =>
  JSON.parse(unzipped(`${format}.content.gz`).toString()) as Released

/** Returns a clock that continues a minute after `madeAt`, because servers delete some records after days. */
function clockFrom(madeAt: number): Clock {
  const behindMs = systemClock.now() - madeAt - 60_000
  return { now: () => systemClock.now() - behindMs, after: (ms, fn) => systemClock.after(ms, fn) }
}

const withoutContentFormat = (data: unknown): unknown =>
  JSON.parse(JSON.stringify(data, (name, value: unknown) => (name === 'contentFormat' ? undefined : value)))

/** Opens a store with a server of this version, compares all content, and edits a document. */
async function expectContent(format: string, config: Partial<Config>): Promise<void> {
  const { madeAt, content } = releasedContent(format)
  const server = await startTestServer({ ...releasedCredentials, ...config }, { clock: clockFrom(madeAt) })
  try {
    const found = JSON.parse(JSON.stringify(await readStore(postOf(server)))) as Released['content']
    // Later versions may read more, may add members to a response, and have removed `contentFormat` of endpoints.
    for (const [call, data] of Object.entries(content))
      expect([call, found[call]]).toMatchObject([call, withoutContentFormat(data)])
    expect(Object.keys(content).length).toBeGreaterThan(20)
    // The stored job of the webhook makes the next attempt. The embedded store takes longer to claim it.
    if (config.engine === 'postgres') await eventually(async () => (await countAttempts(postOf(server))) > 1)
    const text = { organizationId: 'acme', documentId: 'of-text', editorId: 'main' }
    dataOf(await server.post('/v2/crdt/update', { ...text, type: 'text', data: 'by this version' }))
    expect(dataOf(await server.post('/v2/crdt/get', text))).toMatchObject([{ data: 'by this version' }])
  } finally {
    await server.stop()
  }
}

it('[UPG-4] has a store of every released format, each smaller than 100 KB', async () => {
  const formats = [`level-${formatVersion}`, ...schemaSteps.map(({ to }) => `postgres-${formatText(to)}`)]
  const names = readdirSync(kept)
  for (const format of formats) {
    expect(names).toContain(`${format}.gz`)
    expect(names).toContain(`${format}.content.gz`)
  }
  for (const name of names) expect(statSync(join(kept, name)).size).toBeLessThan(100_000)
})

it('[UPG-4] restores a backup of format 2 of the embedded store with all its content', async () => {
  const backup = join(root, 'backup')
  writeFileSync(backup, unzipped('level-2.gz'))
  const data = join(root, 'data')
  await restore(backup, data, ignore)
  expect(await verify(data, ignore)).toMatchObject({ damages: [] })
  await expectContent('level-2', { engine: 'level', dataDir: data })
})

describe.skipIf(missing('postgres'))('released formats of PostgreSQL', () => {
  const formats = schemaSteps.map(({ to }) => formatText(to))

  it('[UPG-4] [UPG-5] opens a schema of each format with all its content, and brings it to the format of this version', async () => {
    const postgres = await startPostgres()
    try {
      for (const format of formats) {
        await postgres.sql(unzipped(`postgres-${format}.gz`).toString())
        const place = { postgresUrl: postgres.url, postgresSchema: 'released' } as const
        await expectContent(`postgres-${format}`, {
          engine: 'postgres',
          dataDir: join(root, format),
          ...place,
        })
        const [stored] = await postgres.sql(`select value from released.meta where name = 'format'`)
        expect(stored?.value).toBe(formatText(schemaFormat))
        await postgres.sql('drop schema released cascade')
      }
    } finally {
      await postgres.remove()
    }
  })
})
