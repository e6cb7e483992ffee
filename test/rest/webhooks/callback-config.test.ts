import { afterAll, beforeAll, expect, it } from 'vitest'
import { errorOf } from '../../support/servers/acme-server.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { nowhere, webhookOptions, webhooksOf } from '../../support/servers/webhooks.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer(webhookOptions)
})
afterAll(() => server.stop())

interface Callbacks {
  readonly authorize: object | null
  readonly load: object | null
  readonly store: object | null
}

/** Returns functions for the callbacks of a new API key. */
async function newCallbacks() {
  const { call, post, refused } = await webhooksOf(server)
  return {
    post: (path: string, data: object = {}) => post(`callbacks/${path}`, data),
    refused: (data: object) => refused('callbacks/update', data),
    update: (data: object) => call<Callbacks>('callbacks/update', data),
    get: () => call<Callbacks>('callbacks/get', {}),
    remove: () => call<undefined>('callbacks/delete', {}),
    secret: async () => (await call<{ secret: string }>('callbacks/secret/get', {})).secret,
    rotate: async (data: object) => (await call<{ secret: string }>('callbacks/secret/rotate', data)).secret,
  }
}

const url = nowhere

it('[CALL-1] changes the given callbacks, and returns them with their defaults', async () => {
  const { update, get, refused } = await newCallbacks()
  expect(await refused({})).toEqual(['INVALID_ARGUMENT'])
  const authorize = { url, timeoutMs: 5_000, onFailure: 'reject' }
  expect(await update({ authorize: { url } })).toMatchObject({ authorize, load: null, store: null })
  const load = { url, timeoutMs: 700, onFailure: 'empty' }
  const store = { url, format: 'markdown', minSeconds: 3 }
  expect(await update({ load, store })).toMatchObject({ authorize, load, store })
  // Replaced as a whole: the timeout is the default again.
  expect(await update({ load: { url }, authorize: null })).toMatchObject({
    authorize: null,
    load: { url, timeoutMs: 5_000, onFailure: 'reject' },
    store,
  })
  expect(await update({ store: { url } })).toMatchObject({ store: { url, format: 'json', minSeconds: 10 } })
  expect(await get()).toMatchObject({ authorize: null, load: { url }, store: { url } })
})

it('[CALL-2] rejects invalid callbacks and changes nothing', async () => {
  const { update, get, refused } = await newCallbacks()
  const before = await update({ authorize: { url } })
  const place = (name: string) => ['INVALID_ARGUMENT', `/data/${name}`]
  for (const name of ['authorize', 'load', 'store'])
    for (const wrong of ['ftp://example.com/', 'nowhere', 'https://ada:secret@example.com/'])
      expect(await refused({ [name]: { url: wrong } })).toEqual(place(`${name}/url`))
  for (const wrong of [
    { load: { url, timeoutMs: 99 } },
    { load: { url, timeoutMs: 30_001 } },
    { load: { url, onFailure: 'stored' } },
    { authorize: { url, onFailure: 'empty' } },
    { authorize: {} },
    { store: { url, format: 'pdf' } },
    { store: { url, minSeconds: 0 } },
  ])
    expect((await refused(wrong))[0]).toBe('INVALID_ARGUMENT')
  expect(await get()).toEqual(before)
})

it('[CALL-3] finds no callbacks before the first update, after a deletion, and of another API key', async () => {
  const { update, post, remove, get } = await newCallbacks()
  const other = await newCallbacks()
  await other.update({ load: { url } })
  const statuses = async () => {
    const paths = ['get', 'delete', 'secret/get', 'secret/rotate']
    const found = []
    for (const path of paths) found.push(errorOf(await post(path))[0])
    return found
  }
  const missing = ['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND']
  expect(await statuses()).toEqual(missing)
  await update({ load: { url } })
  expect(await get()).toMatchObject({ load: { url } })
  await remove()
  expect(await statuses()).toEqual(missing)
  expect(await other.get()).toMatchObject({ load: { url } })
})

it('[CALL-4] returns the secret only where it is requested', async () => {
  const { update, get, secret, rotate, remove } = await newCallbacks()
  await update({ load: { url } })
  const first = await secret()
  expect(Buffer.from(first.replace(/^whsec_/, ''), 'base64')).toHaveLength(32)
  await update({ authorize: { url } })
  expect(await secret()).toBe(first)
  const second = await rotate({ graceSeconds: 60 })
  expect(second).not.toBe(first)
  expect(await secret()).toBe(second)
  expect(JSON.stringify(await get())).not.toMatch(/whsec_/)
  await remove()
  await update({ load: { url } })
  expect(await secret()).not.toBe(second)
})
