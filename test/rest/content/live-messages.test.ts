import { afterAll, beforeAll, expect, it } from 'vitest'
import { errorOf, type PeopleServer, startPeopleServer } from '../../support/servers/acme-server.ts'

let server: PeopleServer
beforeAll(async () => {
  server = await startPeopleServer()
})
afterAll(() => server.stop())

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
const post = (data: object) =>
  server.post('/v2/livestate/broadcast', { organizationId: 'acme', documentId: 'd1', event: 'e', ...data })

it('[LIVE-7] returns NOT_FOUND for an unknown organization or document, and accepts a message to an editor without clients', async () => {
  expect(errorOf(await post({ organizationId: 'none' }))).toEqual(['NOT_FOUND'])
  expect(errorOf(await post({ documentId: 'none' }))).toEqual(['NOT_FOUND'])
  expect((await post({ editorId: 'none' })).body.result?.data).toEqual({
    success: true,
    delivered: 0,
    missed: 0,
  })
})

it.each([
  [{ event: '' }, '/data/event'],
  [{ event: undefined }, '/data/event'],
  [{ event: 7 }, '/data/event'],
  [{ event: 'x'.repeat(201) }, '/data/event'],
  [{ editorId: '..' }, '/data/editorId'],
  [{ data: 'x'.repeat(65_535) }, '/data/data'],
  [{ data: 'é'.repeat(32_768) }, '/data/data'],
  [{ data: nested(65) }, '/data/data'],
])(
  '[LIVE-7] rejects malformed or oversized input with INVALID_ARGUMENT, and states the position of the problem (%#)',
  async (data, path) => {
    expect(errorOf(await post(data))).toEqual(['INVALID_ARGUMENT', path])
  },
)

it.each([{ event: 'x'.repeat(200) }, { data: 'x'.repeat(65_534) }, { data: nested(64) }])(
  '[LIVE-7] accepts input whose size is exactly the limit (%#)',
  async (data) => {
    expect((await post(data)).status).toBe(200)
  },
)
