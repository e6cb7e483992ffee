import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type * as Y from 'yjs'
import { type Editor, eventually, openEditor, type ProviderVersion } from '../../support/clients/clients.ts'
import { pageSocket } from '../../support/clients/page-sockets.ts'
import {
  type HocuspocusVersion,
  hocuspocusProvider,
  hocuspocusSocket,
} from '../../support/clients/protocol-clients.ts'
import { startTestServer, type TestServer } from '../../support/servers/server.ts'
import { isEverythingAsked } from '../../support/time/full-run.ts'

const bytesMax = 100_000
/** Time in which the long form counts the connections after a limit. A client waits for seconds between two of them. */
const watchedMs = 30_000

/** Two documents that a page has open with stock clients, as different users; over one connection if it can carry both. */
interface Page {
  readonly first: Y.Text
  readonly second: Y.Text
  /** Opens a third document, over the connection of the first one if it can carry both. */
  readonly openThird: () => void
  /** The notices that the client of the first document gets, in their order. */
  readonly notices: string[]
  /** Number of connections that the client of the first document has begun. */
  readonly connects: () => number
  readonly isSynced: () => boolean
  readonly close: () => void
}

type SocketClass = new (...given: never[]) => object

/** Returns a class of sockets that counts its objects. */
function counting(Socket: SocketClass): { readonly Socket: SocketClass; readonly count: () => number } {
  let count = 0
  class Counted extends Socket {
    constructor(...given: never[]) {
      super(...given)
      count += 1
    }
  }
  return { Socket: Counted, count: () => count }
}

const websocket = (): Promise<SocketClass> => Promise.resolve(WebSocket as never)
const http = async (): Promise<SocketClass> => pageSocket({ WebSocket: null })

const yWebsocket = (version: ProviderVersion, socket: typeof websocket) => async (server: TestServer) => {
  const [Socket, tokens] = await Promise.all([socket(), tokensOf(server)])
  const counted = counting(Socket)
  const open = (name: string, token: string, Class: SocketClass) =>
    openEditor(server.wsUrl, `acme/${name}/main`, token, { version, Socket: Class })
  const [first, second] = [open('first', tokens[0], counted.Socket), open('second', tokens[1], Socket)]
  const notices: string[] = []
  const editors = [first, second]
  const listen = ({ provider }: Editor): void => {
    provider.on('connection-close', (event: { code: number } | null) => {
      notices.push(`close code ${event?.code}`)
    })
  }
  listen(first)
  return {
    first: first.text,
    second: second.text,
    notices,
    connects: counted.count,
    isSynced: () => first.provider.synced && second.provider.synced,
    openThird: () => {
      const third = open('third', tokens[0], counted.Socket)
      editors.push(third)
      listen(third)
    },
    close: () => {
      for (const editor of editors) editor.close()
    },
  } satisfies Page
}

const hocuspocus = (version: HocuspocusVersion, socket: typeof websocket) => async (server: TestServer) => {
  const tokens = await tokensOf(server)
  const counted = counting(await socket())
  const host = { url: server.url, wsUrl: server.wsUrl, Socket: counted.Socket }
  const shared = hocuspocusSocket(host, version)
  const open = (name: string, token: string) =>
    hocuspocusProvider(host, `acme/${name}/main`, token, { version, socket: shared })
  const [first, second] = [open('first', tokens[0]), open('second', tokens[1])]
  const notices: string[] = []
  const providers = [first, second]
  first.on('authenticationFailed', () => notices.push('permission denied'))
  shared.on('close', ({ event }: { event: { code: number } }) => notices.push(`close code ${event.code}`))
  return {
    first: first.document.getText('content'),
    second: second.document.getText('content'),
    notices,
    connects: counted.count,
    isSynced: () => first.isSynced && second.isSynced,
    openThird: () => void providers.push(open('third', tokens[0])),
    close: () => {
      for (const provider of providers) provider.destroy()
      shared.destroy()
    },
  } satisfies Page
}

const tokensOf = (server: TestServer): Promise<[string, string]> =>
  Promise.all([server.token('ada'), server.token('bob')])

const clients: Readonly<Record<string, (server: TestServer) => Promise<Page>>> = {
  'y-websocket 1': yWebsocket(1, websocket),
  'y-websocket 2': yWebsocket(2, websocket),
  'y-websocket 3': yWebsocket(3, websocket),
  'y-websocket 3 over HTTP': yWebsocket(3, http),
  'Hocuspocus 2': hocuspocus(2, websocket),
  'Hocuspocus 3': hocuspocus(3, websocket),
  'Hocuspocus 4': hocuspocus(4, websocket),
  'Hocuspocus 4 over HTTP': hocuspocus(4, http),
}

/** The limits, with what a page does to exceed each for its first document. */
const limits: Readonly<Record<string, (page: Page, server: TestServer) => unknown>> = {
  maxMessageBytes: ({ first }) => first.insert(0, 'x'.repeat(bytesMax + 50_000)),
  maxDocumentBytes: ({ first }) => {
    first.insert(0, 'x'.repeat(bytesMax - 20_000))
    first.insert(0, 'y'.repeat(bytesMax - 20_000))
  },
  maxConnectionsPerWorkspace: (page) => page.openThird(),
  'end of the token': (_page, server) => server.post('/v2/auth/revoke_tokens', { userId: 'ada' }),
}

interface Row {
  readonly limit: string
  readonly client: string
  readonly notice: string
  readonly second: 'stays' | 'ends'
  readonly reconnects: 'yes' | 'no'
}

/** Opens two documents, exceeds a limit for the first one, and returns what happens. */
async function measure(limit: string, client: string): Promise<Row> {
  const isFull = limit === 'maxConnectionsPerWorkspace'
  const sizes = { maxMessageBytes: bytesMax, maxDocumentBytes: bytesMax }
  const server = await startTestServer({ ...sizes, ...(isFull && { maxConnectionsPerWorkspace: 2 }) })
  const page = await clients[client]?.(server)
  if (page === undefined) throw new Error(`no client ${client}`)
  try {
    await eventually(page.isSynced)
    const before = page.connects()
    await limits[limit]?.(page, server)
    await eventually(() => page.notices.length > 0)
    const opened = isFull && !client.startsWith('Hocuspocus') ? before + 1 : before
    const notice = page.notices[0] ?? ''
    // After a permanent code, only y-websocket before 3.1 connects again.
    const retries = isFull || /^y-websocket [12]$/.test(client)
    if (retries) await eventually(() => page.connects() > opened)
    page.second.insert(0, 'undisturbed')
    await eventually(() => contentOf(server).then((text) => text === 'undisturbed'))
    if (isEverythingAsked) await setTimeout(watchedMs)
    const reconnects = page.connects() - opened
    const second = client.startsWith('Hocuspocus') && reconnects > 0 ? 'ends' : 'stays'
    if (isEverythingAsked)
      console.log(`| ${limit} | ${client} | ${notice} | ${second} | ${reconnects} in ${watchedMs} ms |`)
    return { limit, client, notice, second, reconnects: reconnects > 0 ? 'yes' : 'no' }
  } finally {
    page.close()
    await server.stop()
  }
}

async function contentOf(server: TestServer): Promise<unknown> {
  const editor = { organizationId: 'acme', documentId: 'second', editorId: 'main' }
  const { body } = await server.post('/v2/crdt/get', editor)
  return (body.result?.data as readonly { data: unknown }[] | undefined)?.[0]?.data
}

/** The rows of the table in the chapter about limits. */
const documented = (): readonly string[] =>
  readFileSync(join(import.meta.dirname, '../../../src/docs/limits.md'), 'utf8')
    .split('\n')
    .filter((line) => /\| (stays|ends) \| (yes|no) \|$/.test(line))

/** Returns the rows of a table. Clients with the same outcome share a row. Another test shows that HTTP changes no outcome. */
function tableOf(all: readonly Row[]): readonly string[] {
  const named = new Map<string, string[]>()
  for (const { limit, client, notice, second, reconnects } of all) {
    if (client.endsWith(' over HTTP')) continue
    const name = limit.startsWith('max') ? `\`${limit}\`` : limit
    const row = `| ${name} | CLIENTS | ${notice} | ${second} | ${reconnects} |`
    named.set(row, [...(named.get(row) ?? []), client])
  }
  return [...named].map(([row, names]) => row.replace('CLIENTS', names.join(', ')))
}

let rows: readonly Row[]
beforeAll(async () => {
  const all: Row[] = []
  for (const limit of Object.keys(limits))
    all.push(...(await Promise.all(Object.keys(clients).map((client) => measure(limit, client)))))
  rows = all
}, 600_000)

it('[LIM-65] sends each client the notice of the documentation at a limit, and permanently ends no other document of the connection', () => {
  expect(documented()).toEqual(tableOf(rows))
  const ended = rows.filter(({ second }) => second === 'ends')
  expect(
    ended.filter(({ notice, reconnects }) => notice !== 'close code 1013' || reconnects === 'no'),
  ).toEqual([])
})

it('[LIM-65] sends the same notices over HTTP as over a websocket', () => {
  const outcome = (row: Row): object => ({ ...row, client: '' })
  const of = (client: string): readonly object[] => rows.filter((row) => row.client === client).map(outcome)
  for (const client of ['y-websocket 3', 'Hocuspocus 4'])
    expect(of(`${client} over HTTP`)).toEqual(of(client))
})
