import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { eventually } from '../../support/clients/clients.ts'
import { type Running, runExample } from '../../support/servers/examples.ts'
import { dataOf, startTestServer, type TestServer } from '../../support/servers/server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function serving(webhookAllowlist: readonly string[]): Promise<TestServer> {
  const weft = await startTestServer({ webhookAllowlist })
  ends.push(() => weft.stop())
  return weft
}

/** Starts a receiver. It creates its keys, which takes a while, unless `privateKey` is given. */
async function receiverOf(weft: TestServer, privateKey?: string): Promise<Running> {
  const keys = await mkdtemp(join(tmpdir(), 'weft-receiver-'))
  ends.push(() => rm(keys, { recursive: true }))
  if (privateKey !== undefined) await writeFile(join(keys, 'private.pem'), privateKey)
  const receiver = await runExample('webhook-receiver', weft, ['main.js'], { RECEIVER_KEYS: keys })
  ends.push(() => receiver.child.kill('SIGKILL'))
  return receiver
}

const smallKey = (): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString()

it('[EXB-6] [EXB-7] the receiver example configures both webhook services, and prints each event once', async () => {
  const weft = await serving(['127.0.0.1'])
  const receiver = await receiverOf(weft)
  const has = (pattern: RegExp) =>
    eventually(
      () => pattern.test(receiver.out()),
      () => receiver.out(),
      25_000,
    )
  await has(/Receiving webhooks of .* at http/)
  expect(receiver.out()).toMatch(/advanced, encrypted {2}webhook\.test/)

  const draft = { organizationId: 'acme', documentId: 'plan', editorId: 'main', type: 'text' }
  await weft.post('/v2/crdt/add', { ...draft, data: 'one' })
  await has(/advanced, encrypted {2}document\.create .*"where":"acme\/plan"/)
  await has(/basic, encoded {2}document\.create .*"where":"acme\/plan"/)
  expect(receiver.out().match(/document\.create/g)).toHaveLength(2)
  expect(receiver.out()).not.toContain('rejected')

  const another = await receiverOf(weft, smallKey())
  expect(await another.ended).toBe(1)
  expect(another.out()).toMatch(/another public key.*--replace/)

  receiver.child.kill('SIGINT')
  expect(await receiver.ended).toBe(0)
  const basic = dataOf(await weft.post('/v2/workspace/webhookconfig/get', {}))
  expect(basic).toMatchObject({ useWebhookService: false })
  const advanced = dataOf(await weft.post('/v2/workspace/advancedwebhook/endpoints/get', {}))
  expect(advanced).toMatchObject({ endpoints: [{ disabled: true }] })
})

it('[EXB-7] the receiver example prints a remedy when Weft may not send webhooks to this machine', async () => {
  const receiver = await receiverOf(await serving([]), smallKey())
  expect(await receiver.ended).toBe(1)
  expect(receiver.out()).toMatch(
    /the webhookAllowlist of the server does not contain it[\s\S]*npm start -- --webhook-allowlist 127\.0\.0\.1/,
  )
})
