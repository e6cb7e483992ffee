import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'vitest'
import type { Awareness } from 'y-protocols/awareness'
import { type Editor, eventually, type ProviderVersion, syncedEditor } from '../../support/clients/clients.ts'
import {
  type HocuspocusVersion,
  hocuspocusProvider,
  hocuspocusSocket,
} from '../../support/clients/protocol-clients.ts'
import { presenceNodes } from '../../support/servers/node-presence.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'

/** A stock client of any protocol. */
interface Page {
  readonly name: string
  readonly awareness: Awareness
  disconnect(): void
  connect(): void
  close(): void
}

const versions: readonly ProviderVersion[] = [1, 2, 3]
const hocuspocusVersions: readonly HocuspocusVersion[] = [2, 3, 4]

const pageOf = (name: string, editor: Editor): Page => ({
  name,
  awareness: editor.provider.awareness,
  disconnect: () => editor.provider.disconnect(),
  connect: () => editor.provider.connect(),
  close: () => editor.close(),
})

async function hocuspocusPage(server: TestServer, path: string, version: HocuspocusVersion): Promise<Page> {
  const name = `hocuspocus ${version}`
  const socket = hocuspocusSocket(server, version)
  const provider = hocuspocusProvider(server, path, await server.token(name), { version, socket })
  await eventually(() => provider.isSynced)
  const { awareness } = provider
  if (awareness === null) throw new Error('a client without awareness')
  return {
    name,
    awareness,
    disconnect: () => socket.disconnect(),
    connect: () => void socket.connect(),
    close: () => {
      provider.destroy()
      socket.destroy()
    },
  }
}

/** States of pages that a page has, including its own. */
const seenBy = ({ awareness }: Page): string =>
  [...awareness.getStates().values()]
    .map((state) => `${String(state.page)} ${String(state.at)}`)
    .sort()
    .join()

/** Stock clients renew their states after 15 to 18 s. All clients must then have all states. */
async function allSee(pages: readonly Page[], shown: readonly Page[] = pages): Promise<void> {
  const all = shown
    .map(({ name, awareness }) => `${name} ${String(awareness.getLocalState()?.at)}`)
    .sort()
    .join()
  await eventually(
    () => pages.every((page) => seenBy(page) === all),
    () => [all, pages.map(seenBy)],
  )
}

// The tests run at the same time, because each one waits until stock clients renew their states.
let moves = 0
const move = ({ awareness, name }: Page): void => awareness.setLocalState({ page: name, at: ++moves })

it.concurrent('[AWA-23] when a stock client of any protocol and version reconnects, this client and all others see each other', async () => {
  const server = await startTestServer()
  const path = 'acme/coming-back/main'
  const pages = [
    ...(await Promise.all(
      versions.map(async (version) => {
        const name = `y-websocket ${version}`
        return pageOf(name, await syncedEditor(server.wsUrl, path, await server.token(name), { version }))
      }),
    )),
    ...(await Promise.all(hocuspocusVersions.map((version) => hocuspocusPage(server, path, version)))),
  ]
  for (const page of pages) move(page)
  await allSee(pages)
  for (const page of pages) {
    const others = pages.filter((other) => other !== page)
    page.disconnect()
    await allSee([page], [page])
    await allSee(others)
    page.connect()
    await allSee(others, pages)
    for (const other of others) move(other)
    await allSee(pages)
  }
  const [page, ...others] = pages as [Page, ...Page[]]
  page.disconnect()
  await allSee(others)
  page.connect()
  await allSee(pages)
  for (const page of pages) page.close()
  await server.stop()
})

it.concurrent('[AWA-23] after a restart, shows all clients to each other, including clients that moved in the meantime', async () => {
  const data = await mkdtemp(join(tmpdir(), 'weft-back-'))
  const before = await startTestServer({ engine: 'level', dataDir: data })
  const path = 'acme/restarted/main'
  const editors: Editor[] = []
  const pages: Page[] = []
  for (const version of versions) {
    const name = `y-websocket ${version}`
    const editor = await syncedEditor(before.wsUrl, path, await before.token(name), { version })
    editors.push(editor)
    pages.push(pageOf(name, editor))
  }
  const hocuspocus = await Promise.all(
    hocuspocusVersions.map((version) => hocuspocusPage(before, path, version)),
  )
  pages.push(...hocuspocus)
  editors[0]?.text.insert(0, 'text')
  await eventually(() => editors.every(({ text }) => text.length === 4))
  for (const page of pages) move(page)
  await allSee(pages)
  // Some versions throw when an unavailable server does not answer in time.
  for (const page of hocuspocus) page.disconnect()
  await before.stop()
  for (const page of pages) await allSee([page], [page])
  for (const page of pages.slice(2, 4)) for (let more = 0; more < 5; more++) move(page)
  const after = await startTestServer({ engine: 'level', dataDir: data, port: before.port })
  for (const page of hocuspocus) page.connect()
  await allSee(pages)
  for (const page of pages) page.close()
  await after.stop()
  await rm(data, { recursive: true })
})

it.concurrent('[CP-33] when a stock client moves to another node, this client and all others see each other, with and without clients at that node', async () => {
  const { open, at, stop } = await presenceNodes(3)
  const names = ['ada', 'bob', 'eve']
  const editors = [await open(0, 'ada'), await open(0, 'bob'), await open(1, 'eve')]
  const pages = editors.map((editor, index) => pageOf(names[index] as string, editor))
  for (const page of pages) move(page)
  editors[0]?.text.insert(0, 'text')
  await eventually(() => editors.every(({ text }) => text.length === 4))
  await allSee(pages)
  const { provider } = editors[0] as Editor
  for (const node of [1, 0, 2]) {
    for (const page of pages) move(page)
    await allSee(pages)
    pages[0]?.disconnect()
    await allSee(pages.slice(1))
    provider.serverUrl = `${at(node).wsUrl}/sync`
    pages[0]?.connect()
  }
  await allSee(pages)
  for (const page of pages) page.close()
  await stop()
})
