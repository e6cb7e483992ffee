import { setImmediate as nextTick } from 'node:timers/promises'
import { afterEach, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { eventually } from '../../support/clients/clients.ts'
import { openProvider, recorded, settled, textOf } from '../../support/clients/provider.ts'
import { missing } from '../../support/needs.ts'
import { startProxy } from '../../support/proxies/proxies.ts'
import { freePort } from '../../support/servers/process.ts'
import { metric, startTestServer } from '../../support/servers/server.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Gives this process the events of a page. */
function asPage(): { window: EventTarget; document: EventTarget } {
  const page = { window: new EventTarget(), document: new EventTarget() }
  const globals = {
    addEventListener: page.window.addEventListener.bind(page.window),
    removeEventListener: page.window.removeEventListener.bind(page.window),
    document: page.document,
  }
  Object.assign(globalThis, globals)
  ends.push(() => {
    for (const name of Object.keys(globals)) Reflect.deleteProperty(globalThis, name)
  })
  return page
}

it('[PROV-12] connects at once when the network is back or the page becomes visible', async () => {
  const { window, document } = asPage()
  const port = await freePort()
  for (const event of ['online', 'visibilitychange']) {
    let attempts = 0
    class Counted extends WebSocket {
      constructor(url: string) {
        attempts += 1
        super(url)
      }
    }
    let token = async (): Promise<string> => 'none yet'
    const ada = openProvider({
      url: `http://127.0.0.1:${port}`,
      getToken: () => token(),
      WebSocket: Counted as never,
      retryMaxMs: 60_000,
    })
    ends.push(() => ada.destroy())
    // After the fifth failure, the next attempt is at least 3.2 s away.
    await eventually(() => attempts === 5)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const server = await startTestServer({ port })
    token = () => server.token('ada')
    const before = attempts
    ;(event === 'online' ? window : document).dispatchEvent(new Event(event))
    await nextTick()
    expect(attempts).toBe(before + 1)
    await eventually(() => ada.status !== 'offline')
    ada.destroy()
    await server.stop()
  }
})

it('[PROV-12] replaces a connection that does not answer when the network has changed', async () => {
  const { window } = asPage()
  const server = await startTestServer()
  ends.push(() => server.stop())
  let isSilent = false
  class Silent extends WebSocket {
    override send(data: Uint8Array): void {
      if (!isSilent) super.send(data)
    }
  }
  const ada = openProvider({
    url: server.url,
    getToken: () => server.token('ada'),
    WebSocket: Silent as never,
  })
  ends.push(() => ada.destroy())
  await settled(ada)
  const statuses = recorded(ada, 'status')
  isSilent = true
  textOf(ada).insert(0, 'not sent')
  await new Promise((resolve) => setTimeout(resolve, 200))
  window.dispatchEvent(new Event('online'))
  await eventually(() => statuses.length > 0)
  isSilent = false
  await settled(ada)
  expect(statuses.map(([status]) => status)).toEqual(['connecting', 'connected'])
})

it.skipIf(missing('haproxy'))('[PROV-11] uses HTTP behind a proxy that rejects websockets', async () => {
  const server = await startTestServer()
  ends.push(() => server.stop())
  const proxy = await startProxy('haproxy', 'plain', [server.port])
  ends.push(() => proxy.stop())
  const open = (userId: string) => {
    const provider = openProvider({ url: proxy.url, user: {}, getToken: () => server.token(userId) })
    ends.push(() => provider.destroy())
    return provider
  }
  const [ada, grace] = [open('ada'), open('grace')]
  await Promise.all([settled(ada), settled(grace)])
  expect(await metric(server, 'weft_connections{protocol="y-websocket",transport="http"')).toBe(2)
  textOf(ada).insert(0, 'over HTTP')
  await eventually(() => String(textOf(grace)) === 'over HTTP')
  await settled(ada)
  await eventually(() => ada.users().length === 2 && grace.users().length === 2)
})
