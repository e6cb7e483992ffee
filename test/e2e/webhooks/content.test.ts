import { createDecipheriv, privateDecrypt } from 'node:crypto'
import { expect, it } from 'vitest'
import { readingFormats } from '../../../src/core/content/read-document.ts'
import { eventually } from '../../support/clients/clients.ts'
import { dataOf, type TestServer } from '../../support/servers/server.ts'
import { answering, hanging, hookTests, organizationId } from '../../support/servers/webhook-servers.ts'
import { rsaKey } from '../../support/servers/webhooks.ts'

const second = 1_000
const editor = { organizationId, documentId: 'd', editorId: 'main' }
const crdtOnly = { filterTypes: ['crdt.update_data'] }

const { start, receiving } = hookTests()

type Payload = Readonly<Record<string, unknown>>

const payloadsOf = (receiver: { readonly bodies: readonly Record<string, unknown>[] }): readonly Payload[] =>
  receiver.bodies.map(({ data }) => data as Payload)

const write = async (server: TestServer, data: string, more: object = {}) =>
  dataOf(await server.post('/v2/crdt/update', { ...editor, type: 'text', data, upsert: true, ...more })) as {
    version: string
  }

const read = async (server: TestServer, format: string) =>
  (dataOf(await server.post('/v2/crdt/get', { ...editor, format })) as Payload[])[0] as Payload

it('[HOOK-250] sends the content and its version in the format of each endpoint, as crdt/get returns them', async () => {
  const { server, clock, endpoint } = await start()
  const plain = await receiving()
  await endpoint(plain.url, crdtOnly)
  const [formats, receivers] = [[...readingFormats], await Promise.all(readingFormats.map(() => receiving()))]
  for (const [index, contentFormat] of formats.entries())
    await endpoint(receivers[index]?.url ?? '', { ...crdtOnly, contentFormat })
  await write(server, '# Title\n\nSome *text*.', { type: 'markdown' })
  clock.advance(5 * second)
  await eventually(() => plain.hooks.length === 1)
  expect(payloadsOf(plain)[0]).not.toHaveProperty('content')
  for (const [index, format] of formats.entries()) {
    const receiver = receivers[index] as Awaited<ReturnType<typeof receiving>>
    await eventually(() => receiver.hooks.length === 1)
    const [payload] = payloadsOf(receiver) as [Payload]
    const answer = await server.post('/v2/crdt/get', { ...editor, format })
    if (answer.status !== 200) {
      expect(payload, format).toMatchObject({
        contentFormat: format,
        content: null,
        contentOmitted: 'unreadable',
      })
      continue
    }
    const { data, type, contentKey, version } = (dataOf(answer) as Payload[])[0] as Payload
    expect(payload, format).toMatchObject({
      editorId: 'main',
      contentFormat: format,
      content: data,
      contentType: type,
      contentKey,
      version,
    })
    expect(payload).not.toHaveProperty('contentOmitted')
  }
  expect(
    receivers.flatMap((receiver) => payloadsOf(receiver)).filter(({ content }) => content !== null).length,
  ).toBeGreaterThan(5)
})

it('[HOOK-251] reads the content when it makes an attempt: a repeated message has the newest content, with the same webhook-id', async () => {
  const { server, clock, endpoint } = await start()
  const receiver = await receiving(answering(500))
  await endpoint(receiver.url, { ...crdtOnly, contentFormat: 'text' })
  await write(server, 'first')
  clock.advance(5 * second)
  await eventually(() => receiver.hooks.length === 1)
  const { version } = await write(server, 'second')
  receiver.behavior = answering(200)
  await eventually(() => {
    clock.advance(second)
    return receiver.hooks.length >= 2
  })
  expect(
    payloadsOf(receiver)
      .map(({ content }) => content)
      .slice(0, 2),
  ).toEqual(['first', 'second'])
  expect(payloadsOf(receiver)[1]).toMatchObject({ version })
  await eventually(() => {
    clock.advance(second)
    return receiver.ids.length >= 3
  })
  const repeated = receiver.ids.filter((id) => id === receiver.ids[0])
  expect([receiver.ids.length, repeated.length]).toEqual([3, 2])
})

it('[HOOK-252] leaves content out that is too large, and states the version', async () => {
  const { server, clock, endpoint } = await start({ maxWebhookContentBytes: 1024 })
  const receivers = [await receiving(), await receiving()]
  for (const [index, contentFormat] of ['text', 'update'].entries())
    await endpoint(receivers[index]?.url ?? '', { ...crdtOnly, contentFormat })
  const { version } = await write(server, 'x'.repeat(2_000))
  clock.advance(5 * second)
  for (const receiver of receivers) {
    await eventually(() => receiver.hooks.length === 1)
    expect(payloadsOf(receiver)[0]).toMatchObject({ content: null, contentOmitted: 'too-large', version })
  }
  await write(server, 'short')
  clock.advance(5 * second)
  await eventually(() => receivers[0]?.hooks.length === 2)
  expect(payloadsOf(receivers[0] as never)[1]).toMatchObject({ content: 'short' })
})

it('[HOOK-253] sends an event without content if the editor was deleted or has other roots', async () => {
  const { server, clock, endpoint } = await start()
  const receiver = await receiving()
  await endpoint(receiver.url, { ...crdtOnly, contentFormat: 'markdown' })
  await write(server, 'x')
  dataOf(
    await server.post('/v2/crdt/update', {
      ...editor,
      documentId: 'other',
      type: 'map',
      data: { a: 1 },
      contentKey: 'one',
      upsert: true,
    }),
  )
  dataOf(
    await server.post('/v2/crdt/update', {
      ...editor,
      documentId: 'other',
      type: 'map',
      data: { a: 1 },
      contentKey: 'two',
      newRoot: true,
      upsert: true,
    }),
  )
  dataOf(await server.post('/v2/organizations/documents/delete', { organizationId, documentIds: ['d'] }))
  clock.advance(5 * second)
  await eventually(() => receiver.hooks.length === 2)
  const reasons = payloadsOf(receiver).map(({ metadata, content, contentOmitted }) => [
    (metadata as Payload).documentId,
    content,
    contentOmitted,
  ])
  expect(reasons.toSorted()).toEqual([
    ['d', null, 'deleted'],
    ['other', null, 'unreadable'],
  ])
})

it('[HOOK-254] sends no content under data protection', async () => {
  const { server, clock, endpoint } = await start()
  const receiver = await receiving()
  await endpoint(receiver.url, { ...crdtOnly, contentFormat: 'text' })
  const change = { enableDataProtection: true }
  dataOf(await server.post('/v2/workspace/advancedwebhookconfig/update', change))
  await write(server, 'a secret')
  clock.advance(5 * second)
  await eventually(() => receiver.hooks.length === 1)
  expect(receiver.hooks[0]?.body).not.toContain('a secret')
  expect(payloadsOf(receiver)[0]).toMatchObject({ content: null, contentOmitted: 'protected' })
})

it('[HOOK-255] encrypts large content, which the receiver decrypts to the same content', async () => {
  const { server, clock, endpoint } = await start()
  const { spki, privateKey } = rsaKey()
  const change = { encryptData: true, publicKey: spki }
  dataOf(await server.post('/v2/workspace/advancedwebhookconfig/update', change))
  const receiver = await receiving()
  await endpoint(receiver.url, { ...crdtOnly, contentFormat: 'text' })
  const text = 'An umlaut: ü. '.repeat(50_000)
  await write(server, text)
  clock.advance(5 * second)
  await eventually(() => receiver.hooks.length === 1)
  const { encryptedData, encryptedKey, iv } = receiver.bodies[0] as Record<string, string>
  const bytes = (base64 = '') => Buffer.from(base64, 'base64')
  const key = privateDecrypt({ key: privateKey, oaepHash: 'sha256' }, bytes(encryptedKey))
  const decipher = createDecipheriv('aes-256-cbc', key, bytes(iv))
  const json = Buffer.concat([decipher.update(bytes(encryptedData)), decipher.final()]).toString()
  expect((JSON.parse(json) as { data: Payload }).data.content).toBe(text)
})

it('[HOOK-256] sends the event of an editor each second if the window has one second', async () => {
  const { server, clock, endpoint } = await start({ updateEventWindowSeconds: 1 })
  const receiver = await receiving()
  await endpoint(receiver.url, { ...crdtOnly, contentFormat: 'text' })
  for (const [index, text] of ['a', 'ab', 'abc'].entries()) {
    await write(server, text)
    clock.advance(second)
    // Runs the notice, which the end of the window has scheduled.
    clock.advance(0)
    await eventually(() => receiver.hooks.length === index + 1)
  }
  expect(payloadsOf(receiver).map(({ content }) => content)).toEqual(['a', 'ab', 'abc'])
  expect((await read(server, 'text')).version).toBe(payloadsOf(receiver)[2]?.version)
})

it('[HOOK-258] fails attempts beyond the memory for requests that receivers have not read, and repeats them', async () => {
  const MB = 2 ** 20
  const limits = { maxDocumentBytes: 2 * MB, sendBufferBytes: MB, memoryBudgetBytes: MB }
  const { server, clock, endpoint, log } = await start(limits)
  const receivers = await Promise.all(Array.from({ length: 12 }, () => receiving(hanging)))
  const ids: string[] = []
  for (const { url } of receivers) ids.push(await endpoint(url, { ...crdtOnly, contentFormat: 'text' }))
  const text = 'x'.repeat(500_000)
  await write(server, text)
  clock.advance(5 * second)
  const attempts = async () =>
    (await Promise.all(ids.map((id) => log(id)))).flatMap(({ deliveries }) =>
      deliveries.flatMap((each) => each.attempts),
    )
  const hung = () => receivers.filter(({ hooks }) => hooks.length > 0).length
  await eventually(async () => hung() + (await attempts()).length >= receivers.length)
  expect(hung()).toBeGreaterThan(3)
  expect(hung()).toBeLessThan(10)
  expect((await attempts()).every(({ error }) => error?.includes('too many large calls'))).toBe(true)
  for (const receiver of receivers) receiver.behavior = answering(200)
  await eventually(() => {
    clock.advance(2 * second)
    return receivers.every(({ bodies }) => (bodies.at(-1)?.data as Payload | undefined)?.content === text)
  })
})
