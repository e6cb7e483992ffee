import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { flipped, overwrite, storedPair } from '../../contract/level/store-tools.ts'
import { runCli } from '../../support/servers/cli.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'
import { itLong } from '../../support/time/full-run.ts'

const root = mkdtempSync(join(tmpdir(), 'weft-storage-'))
const adminToken = 'an-admin-token-of-the-test'
const documents = 20
const at = (name: string): string => join(root, name)
const weft = (...args: string[]) => runCli(args, root)
const address = (index: number) => ({ organizationId: 'acme', documentId: `d${index}`, editorId: 'main' })

afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 20 }))

const serve = (name: string): Promise<TestServer> =>
  startTestServer({ engine: 'level', dataDir: at(name), adminToken })

async function contents(server: TestServer): Promise<unknown[]> {
  const read = []
  for (let index = 0; index < documents; index++) {
    const [{ data }] = dataOf(await server.post('/v2/crdt/get', address(index))) as [{ data: unknown }]
    read.push(data)
  }
  return read
}

/** Writes numbers into the documents in turn until `isOver`. Document n is never ahead of document n - 1. */
async function writeInTurn(server: TestServer, isOver: () => boolean): Promise<void> {
  for (let round = 1; !isOver(); round++)
    for (let index = 0; index < documents; index++)
      await server.post('/v2/crdt/update', { ...address(index), type: 'text', data: String(round) })
}

let taken: readonly unknown[]

beforeAll(async () => {
  writeFileSync(at('token'), `${adminToken}\n`)
  const server = await serve('first')
  for (let index = 0; index < documents; index++)
    await server.post('/v2/crdt/add', { ...address(index), type: 'text', data: '0' })
  let isOver = false
  const writing = writeInTurn(server, () => isOver)
  const { code, err } = await weft('backup', server.url, at('backup'), '--token-file', at('token'))
  isOver = true
  await writing
  await server.stop()
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('backup: check') })
  await weft('restore', at('backup'), at('restored'))
  const restored = await serve('restored')
  taken = await contents(restored)
  await restored.stop()
}, 60_000)

it('[STORE-1] under load, backs up the state of one moment, and restores it completely with the same credentials', async () => {
  const numbers = taken.map(Number)
  expect(Math.max(...numbers)).toBeGreaterThan(0)
  expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
  expect((numbers[0] as number) - (numbers.at(-1) as number)).toBeLessThanOrEqual(1)
  expect(JSON.parse((await weft('verify', at('restored'), '--json')).out)).toMatchObject({
    ok: true,
    documents,
    damages: [],
  })
  const credentials = (name: string) => readFileSync(join(at(name), 'credentials.json'), 'utf8')
  expect(credentials('restored')).toBe(credentials('first'))
  expect(statSync(at('backup')).mode & 0o777).toBe(0o600)
})

it('[STORE-1] backs up the directory of a stopped server directly, and restores every record', async () => {
  expect((await weft('backup', at('restored'), at('second'))).code).toBe(0)
  expect((await weft('restore', at('second'), at('again'))).code).toBe(0)
  const [first, second] = [await weft('verify', at('restored')), await weft('verify', at('again'))]
  expect(second.out.replace('again', 'restored')).toBe(first.out)
})

it('[STORE-2] rejects a backup without the admin token', async () => {
  const server = await serve('first')
  const status = async (headers: Record<string, string>) =>
    (await fetch(`${server.url}/backup`, { headers })).status
  expect(await status({})).toBe(400)
  expect(await status({ 'x-service-admin-token': 'another' })).toBe(401)
  writeFileSync(at('wrong'), 'another-token-of-the-test')
  const refused = await weft('backup', server.url, at('none'), '--token-file', at('wrong'))
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('UNAUTHENTICATED') })
  await server.stop()
  expect(readdirSync(root)).not.toContain('none')
  const memory = await startTestServer({ adminToken })
  const kept = await fetch(`${memory.url}/backup`, { headers: { 'x-service-admin-token': adminToken } })
  expect(kept.status).toBe(400)
  await memory.stop()
})

itLong(
  '[STORE-3] rejects a changed or truncated backup with one sentence, and leaves no files',
  async () => {
    const whole = readFileSync(at('backup'))
    const middle = Math.floor(whole.length / 2)
    const more = process.env.WEFT_TEST_LONG === '1' ? [0, 16, 300] : []
    const places = [...more, 20, middle, whole.length - 1]
    const damaged = [
      ...places.map((place) => flipped(whole, place)),
      ...[...more, middle].map((place) => whole.subarray(0, place)),
      Buffer.concat([whole, Buffer.of(0)]),
    ]
    for (const bytes of damaged) {
      writeFileSync(at('damaged'), bytes)
      const { code, err } = await weft('restore', at('damaged'), at('target'))
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(/weft: the (backup|file) is [^\n]+\n$/),
      })
      expect(readdirSync(at('target'))).toEqual([])
    }
  },
  120_000,
)

itLong('[STORE-3] neither backup nor restore overwrites an existing file or directory', async () => {
  expect(await weft('restore', at('backup'), at('restored'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not empty'),
  })
  expect(await weft('backup', at('restored'), at('backup'))).toMatchObject({
    code: 2,
    err: expect.stringContaining('already exists'),
  })
})

itLong(
  '[STORE-4] verify reports damage with the remedy, or the reason why it cannot read the store',
  async () => {
    await weft('restore', at('backup'), at('broken'))
    const store = join(at('broken'), 'store')
    const server = await serve('broken')
    await server.post('/v2/crdt/add', { ...address(99), type: 'text', data: 'the marked text' })
    const busy = await weft('verify', at('broken'))
    expect(busy).toMatchObject({ code: 2, err: expect.stringContaining('in use') })
    await server.stop()
    expect((await weft('verify', at('broken'))).code).toBe(0)
    const [key, value] = await storedPair(store, 'the marked text')
    await overwrite(store, key, flipped(value, value.length - 3))
    const { code, out } = await weft('verify', at('broken'))
    expect(code).toBe(1)
    expect(out).toMatch(
      /^document \[.*"d99","main"\]: a checksum is wrong\n {2}clients cannot open this document/m,
    )
    expect(out).toMatch(/damaged in 1 places/)
    await overwrite(store, key, null)
    expect((await weft('verify', at('broken'))).out).toMatch(/"d99".*updates are missing/)
    expect(await weft('verify', at('nowhere'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('no store'),
    })
  },
  60_000,
)
