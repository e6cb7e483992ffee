import { expect, it } from 'vitest'
import { answering } from '../../support/clients/webhook-receiver.ts'
import { askedOf, callbackTests, deciding, organizationId } from '../../support/servers/callback-servers.ts'
import { metric } from '../../support/servers/server.ts'

const { backend, start } = callbackTests()

const editor = { organizationId, documentId: 'doc', editorId: 'main' }

it('[CALL-55] calls authorize and load as a test, and returns what they answer', async () => {
  const { server, call, configure } = await start()
  const test = (data: object) => call('/v2/workspace/callbacks/test', { ...editor, ...data })
  let content: object = { type: 'markdown', data: '# Plan', contentKey: 'default' }
  const receiver = await backend(
    deciding(({ callback }) => (callback === 'load' ? content : { role: 'viewer' })),
  )
  await configure({ authorize: { url: receiver.url }, load: { url: receiver.url } })
  const answered = { result: 'answered', reason: null, durationMs: expect.any(Number) as number }
  expect(await test({ callback: 'authorize', userId: 'eve' })).toEqual({
    ...answered,
    answer: { role: 'viewer', ttlSeconds: 60 },
  })
  expect(askedOf(receiver).at(-1)).toMatchObject({
    ...editor,
    callback: 'authorize',
    user: { userId: 'eve' },
  })
  expect(await test({ callback: 'load' })).toEqual({
    ...answered,
    answer: { type: 'markdown', contentKey: 'default' },
  })
  content = { type: 'text', data: 'x'.repeat(200_000) }
  expect(await test({ callback: 'load' })).toMatchObject({ answer: { type: 'text' } })
  content = { update: 'AAA=' }
  expect(await test({ callback: 'load' })).toMatchObject({ answer: { updateBytes: 2 } })
  content = { notFound: true }
  expect(await test({ callback: 'load' })).toMatchObject({ answer: { notFound: true } })
  // Nothing was created.
  expect(await call('/v2/organizations/get', {})).toEqual([])
  expect(await metric(server, 'weft_callback_calls_total')).toBeGreaterThan(0)
})

it('[CALL-55] returns why a test call failed, and that the callback is paused after repeated failures', async () => {
  const { server, call, configure } = await start()
  const test = (callback: string) => call('/v2/workspace/callbacks/test', { ...editor, callback })
  const receiver = await backend(answering(500))
  await configure({ authorize: { url: receiver.url, timeoutMs: 100 } })
  const failed = { result: 'status', reason: 'the callback answered 500', answer: null }
  for (let count = 0; count < 5; count += 1) expect(await test('authorize')).toMatchObject(failed)
  expect(await test('authorize')).toMatchObject({ result: 'paused' })
  const missing = await server.post('/v2/workspace/callbacks/test', { ...editor, callback: 'load' })
  expect(missing.body.error).toMatchObject({
    status: 'NOT_FOUND',
    details: { code: 'callback/not-configured' },
  })
})
