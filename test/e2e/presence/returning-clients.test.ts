import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Awareness } from 'y-protocols/awareness'
import { type Editor, eventually, syncedEditor } from '../../support/clients/clients.ts'
import { hocuspocusProvider, hocuspocusSocket } from '../../support/clients/protocol-clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

/** A stock client that does not renew its state, such as the page of a user who is away. */
interface Page {
  readonly awareness: Awareness
  disconnect(): void
  connect(): void
  close(): void
}

/** Stops the renewals of a client, so that other clients see its state only if the server sends it. */
function withoutRenewals(awareness: Awareness): Awareness {
  clearInterval(Reflect.get(awareness, '_checkInterval') as NodeJS.Timeout)
  return awareness
}

const pageOf = (editor: Editor): Page => ({
  awareness: withoutRenewals(editor.provider.awareness),
  disconnect: () => editor.provider.disconnect(),
  connect: () => editor.provider.connect(),
  close: () => editor.close(),
})

async function yWebsocketPage(server: TestServer, path: string, user: string): Promise<Page> {
  return pageOf(await syncedEditor(server.wsUrl, path, await server.token(user), { version: 3 }))
}

async function hocuspocusPage(server: TestServer, path: string, user: string): Promise<Page> {
  const socket = hocuspocusSocket(server)
  const provider = hocuspocusProvider(server, path, await server.token(user), { socket })
  await eventually(() => provider.isSynced)
  return {
    awareness: withoutRenewals(provider.awareness as Awareness),
    disconnect: () => socket.disconnect(),
    connect: () => void socket.connect(),
    close: () => {
      provider.destroy()
      socket.destroy()
    },
  }
}

const seenBy = ({ awareness }: Page): string =>
  [...awareness.getStates().values()]
    .map(({ page, at }) => `${String(page)} ${String(at)}`)
    .sort()
    .join()

const allSee = (pages: readonly Page[], shown: string): Promise<void> =>
  eventually(
    () => pages.every((page) => seenBy(page) === shown),
    () => [shown, pages.map(seenBy)],
  )

for (const [protocol, open] of [
  ['y-websocket', yWebsocketPage],
  ['Hocuspocus', hocuspocusPage],
] as const)
  it.concurrent(`[AWA-27] ${protocol}: a client that comes back sees clients that do not move, and their own states stay as they were`, async () => {
    const server = await startTestServer()
    const path = 'acme/away/main'
    const [one, two, three] = await Promise.all(
      ['one', 'two', 'three'].map((user) => open(server, path, user)),
    )
    if (one === undefined || two === undefined || three === undefined) throw new Error('no pages')
    for (const [index, page] of [one, two, three].entries())
      page.awareness.setLocalState({ page: index, at: 1, user: { name: `page ${index}`, color: '#fff' } })
    await allSee([one, two, three], '0 1,1 1,2 1')
    for (let round = 0; round < 3; round++) {
      one.disconnect()
      await allSee([two, three], '1 1,2 1')
      one.connect()
      await allSee([one, two, three], '0 1,1 1,2 1')
    }
    expect(two.awareness.getLocalState()).toMatchObject({ user: { name: 'page 1', color: '#fff' } })
    two.awareness.setLocalStateField('at', 2)
    await allSee([one, two, three], '0 1,1 2,2 1')
    for (const page of [one, two, three]) page.close()
    await server.stop()
  })

it.concurrent('[AWA-27] a client that comes back while another one moves sees the last state of both', async () => {
  const server = await startTestServer()
  const path = 'acme/moving/main'
  const [one, two] = await Promise.all(['one', 'two'].map((user) => yWebsocketPage(server, path, user)))
  if (one === undefined || two === undefined) throw new Error('no pages')
  for (const [index, page] of [one, two].entries()) page.awareness.setLocalState({ page: index, at: 0 })
  await allSee([one, two], '0 0,1 0')
  for (let round = 1; round <= 5; round++) {
    one.disconnect()
    await allSee([two], `1 ${round - 1}`)
    one.connect()
    two.awareness.setLocalStateField('at', round)
    await allSee([one, two], `0 0,1 ${round}`)
  }
  for (const page of [one, two]) page.close()
  await server.stop()
})

it.concurrent('[AWA-27] after a restart of the server, clients that do not move see each other', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-returned-'))
  const before = await startTestServer({ engine: 'level', dataDir: data })
  const path = 'acme/restarted/main'
  const editors = await Promise.all(
    ['one', 'two', 'three'].map(async (user) =>
      syncedEditor(before.wsUrl, path, await before.token(user), { version: 3 }),
    ),
  )
  editors[0]?.text.insert(0, 'text')
  await eventually(() => editors.every(({ text }) => text.length === 4))
  const pages = editors.map(pageOf)
  for (const [index, page] of pages.entries()) page.awareness.setLocalState({ page: index, at: 1 })
  await allSee(pages, '0 1,1 1,2 1')
  const port = Number(new URL(before.url).port)
  await before.stop()
  await eventually(() => pages.every((page, index) => seenBy(page) === `${index} 1`))
  const after = await startTestServer({ engine: 'level', dataDir: data, port })
  await allSee(pages, '0 1,1 1,2 1')
  for (const page of pages) page.close()
  await after.stop()
  await rm(data, { recursive: true })
})
