// @vitest-environment dom
import { createElement, type ReactNode } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { renderToString } from 'react-dom/server'
import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  type RoomPresence,
  type RoomState,
  usePresence,
  useRoom,
  useSaved,
} from '../../../src/client/react/index.ts'
import { eventually } from '../../support/clients/clients.ts'
import { openProvider, settled, textOf } from '../../support/clients/provider.ts'
import { type PageProps, page, sockets, useEventsOfNode } from '../../support/clients/react-page.ts'
import { dataOf, metric, startTestServer, type TestServer } from '../../support/servers/server.ts'

useEventsOfNode()

/** The last values of the hooks of one page, and the number of renderings. */
interface Seen {
  room: RoomState
  presence: RoomPresence
  saved: boolean
  readonly savedValues: Set<boolean>
  renders: number
}

const newSeen = (): Seen => ({ renders: 0, savedValues: new Set() }) as unknown as Seen

function Watched({ seen }: { readonly seen: Seen }): ReactNode {
  seen.room = useRoom()
  seen.presence = usePresence()
  seen.saved = useSaved()
  seen.savedValues.add(seen.saved)
  seen.renders += 1
  return `${seen.room.status} ${seen.presence.users.length}`
}

describe('a room', () => {
  const ends: (() => unknown)[] = []
  const problems: unknown[][] = []
  for (const name of ['error', 'warn'] as const) {
    const original = console[name]
    console[name] = (...values: unknown[]) => {
      problems.push(values)
      original(...values)
    }
  }

  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
    expect(problems.splice(0)).toEqual([])
  })

  async function start(): Promise<TestServer> {
    const server = await startTestServer()
    ends.push(() => server.stop())
    return server
  }

  function mount(
    props: PageProps,
    seen = newSeen(),
  ): { seen: Seen; root: Root; show: (next: PageProps) => void } {
    const container = document.createElement('div')
    const root = createRoot(container)
    const show = (next: PageProps): void => root.render(page(next, createElement(Watched, { seen })))
    show(props)
    ends.push(() => root.unmount())
    return { seen, root, show }
  }

  const synced = ({ room, saved }: Seen): boolean =>
    room?.status === 'connected' && room.synced && room.role !== null && saved

  it('[REACT-1] opens one connection under StrictMode, and ends it when it is unmounted', async () => {
    const server = await start()
    let tokens = 0
    const getToken = () => {
      tokens += 1
      return server.token('ada')
    }
    const before = sockets.opened
    const { seen, root } = mount({ server, getToken })
    await eventually(() => synced(seen))
    expect([tokens, sockets.opened - before]).toEqual([1, 1])
    expect(await metric(server, 'weft_connections{')).toBe(1)
    // Changes at the moment of the end are sent.
    seen.room.doc.getText('content').insert(0, 'last words')
    root.unmount()
    await eventually(() => sockets.open === 0)
    await eventually(async () => (await metric(server, 'weft_connections{')) === 0)
    const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
    expect(JSON.stringify((await server.post('/v2/crdt/get', address)).body)).toContain('last words')
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect([tokens, sockets.opened - before]).toEqual([1, 1])
  })

  it('[REACT-1] opens no connection if it is unmounted at once', async () => {
    const server = await start()
    const before = sockets.opened
    const getToken = vi.fn(() => server.token('ada'))
    mount({ server, getToken }).root.unmount()
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(getToken).not.toHaveBeenCalled()
    expect(sockets.opened).toBe(before)
  })

  it('[REACT-2] renders its fallback on the server, and opens after hydration without a warning', async () => {
    const server = await start()
    const seen = newSeen()
    const before = sockets.opened
    const content = page({ server }, createElement(Watched, { seen }))
    const { window, document } = globalThis
    for (const name of ['window', 'document']) Reflect.deleteProperty(globalThis, name)
    let html: string
    try {
      html = renderToString(content)
    } finally {
      for (const [name, value] of Object.entries({ window, document }))
        Object.defineProperty(globalThis, name, { value, configurable: true, writable: true })
    }
    expect(html).toBe('loading')
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect([seen.renders, sockets.opened]).toEqual([0, before])
    const container = document.createElement('div')
    container.innerHTML = html
    const root = hydrateRoot(container, content)
    ends.push(() => root.unmount())
    await eventually(() => synced(seen) && container.textContent === 'connected 1')
  })

  it('[REACT-3] opens another room, with new children, when the address changes', async () => {
    const server = await start()
    const { seen, show } = mount({ server, documentId: 'plan' })
    await eventually(() => synced(seen))
    const { doc } = seen.room
    doc.getText('content').insert(0, 'one')
    show({ server, documentId: 'other' })
    await eventually(() => seen.room.doc !== doc && synced(seen))
    expect(String(seen.room.doc.getText('content'))).toBe('')
    await eventually(() => sockets.open === 1)
    show({ server, documentId: 'plan' })
    await eventually(() => synced(seen) && String(seen.room.doc.getText('content')) === 'one')
    await eventually(() => sockets.open === 1)
  })

  it('[REACT-4] does not connect again when inline properties are new objects, and publishes a new user', async () => {
    const server = await start()
    const before = sockets.opened
    const props = (color: string): PageProps => ({
      server,
      user: { color },
      getToken: () => server.token('ada'),
    })
    const { seen, show } = mount(props('red'))
    await eventually(() => synced(seen))
    for (let count = 0; count < 5; count++) show(props('red'))
    show(props('blue'))
    await eventually(() => seen.presence.self?.color === 'blue')
    seen.presence.setUser({ color: 'green' })
    await eventually(() => seen.presence.self?.color === 'green')
    expect(sockets.opened - before).toBe(1)
  })

  it('[REACT-5] shows each user once, without a new rendering when a cursor moves', async () => {
    const server = await start()
    const { seen } = mount({ server, user: { color: 'red' } })
    const grace = openProvider({
      url: server.url,
      user: { color: 'blue' },
      getToken: () => server.token('grace'),
    })
    ends.push(() => grace.destroy())
    await eventually(() => synced(seen) && seen.presence.others.length === 1)
    expect(seen.presence.self).toMatchObject({ id: 'ada', name: 'ada', color: 'red', isSelf: true })
    expect(seen.presence.others).toMatchObject([{ id: 'grace', name: 'grace', color: 'blue', isSelf: false }])
    await settled(grace)
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { renders } = seen
    for (let index = 0; index < 10; index++) {
      grace.awareness.setLocalStateField('cursor', index)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    await eventually(() => [...seen.room.awareness.getStates().values()].some((state) => state.cursor === 9))
    expect(seen.renders).toBe(renders)
    grace.destroy()
    await eventually(() => seen.presence.others.length === 0)
  })

  it('[REACT-6] shows whether changes are saved, and the status with its problem', async () => {
    const first = await startTestServer()
    const { port } = first
    const { seen, show } = mount({ server: first })
    await eventually(() => synced(seen))
    await first.stop()
    await eventually(() => seen.room.status === 'offline')
    expect(seen.room.problem?.action).toBe('retry')
    seen.room.doc.getText('content').insert(0, 'offline')
    await eventually(() => !seen.saved)
    const second = await startTestServer({ port })
    ends.push(() => second.stop())
    // Tokens of the first server are not valid on the second one, whose memory is empty.
    show({ server: second })
    await eventually(() => synced(seen))
    expect(seen.room.problem).toBeNull()
    const address = { organizationId: 'acme', documentId: 'plan', editorId: 'main' }
    expect(JSON.stringify((await second.post('/v2/crdt/get', address)).body)).toContain('offline')
  })

  it('[REACT-6] shows that a change is stored', async () => {
    const server = await start()
    const { seen } = mount({ server })
    await eventually(() => synced(seen))
    seen.savedValues.clear()
    seen.room.doc.getText('content').insert(0, 'words')
    await eventually(() => seen.savedValues.size === 2 && seen.saved)
  })

  it('[REACT-7] follows the role of the user', async () => {
    const server = await start()
    const document = { organizationId: 'acme', documentId: 'plan' }
    dataOf(await server.post('/v2/crdt/add', { ...document, editorId: 'main', type: 'text', data: 'plan' }))
    const access = { organizationId: 'acme', documentIds: ['plan'], accessType: 'restricted' }
    dataOf(await server.post('/v2/organizations/documents/access/update', access))
    const set = async (accessRole: string): Promise<void> => {
      const resources = [{ type: 'document', id: 'plan', organizationId: 'acme', accessRole }]
      const grant = { user: { userId: 'ada' }, permissions: { resources } }
      dataOf(await server.post('/v2/auth/permissions/add', grant))
    }
    await set('viewer')
    const { seen } = mount({ server })
    await eventually(() => seen.room?.role === 'viewer' && !seen.room.canWrite)
    await set('editor')
    await eventually(() => seen.room.role === 'editor' && seen.room.canWrite)
  })

  it('[REACT-8] does not warn when a component writes while it renders', async () => {
    const server = await start()
    const seen = newSeen()
    let hasWritten = false
    const Writer = (): ReactNode => {
      const { doc, status } = useRoom()
      if (status === 'connected' && !hasWritten) {
        hasWritten = true
        doc.getText('content').insert(0, 'template')
        doc.getText('content').insert(0, 'a ')
      }
      return null
    }
    const root = createRoot(document.createElement('div'))
    ends.push(() => root.unmount())
    root.render(
      page({ server }, [
        createElement(Watched, { key: 'watched', seen }),
        createElement(Writer, { key: 'writer' }),
      ]),
    )
    await eventually(() => hasWritten && synced(seen))
    const { room, renders } = seen
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(seen.room).toBe(room)
    expect(seen.renders - renders).toBeLessThan(3)
    const ada = openProvider({ url: server.url, getToken: () => server.token('grace') })
    ends.push(() => ada.destroy())
    await settled(ada)
    expect(String(textOf(ada))).toBe('a template')
  })
})
