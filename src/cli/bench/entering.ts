import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Running } from './contender.ts'
import { LoadSocket } from './load-socket.ts'

/** Maximum number of connections that are being opened at the same time. */
const atOnce = 50
/** Time in ms in which a server must answer a client. */
const patienceMs = 15_000

/** Opens a connection, and sends the first messages of its protocol. */
export async function enter(server: Running, document: string): Promise<LoadSocket> {
  const socket = await LoadSocket.open(server.url(document))
  for (const message of server.dialect.hello(document)) socket.send(message)
  return socket
}

/** Opens a connection, and waits until the server has answered. A relay does not answer. */
export async function join(server: Running, document: string): Promise<LoadSocket> {
  const socket = await enter(server, document)
  if (server.answers) await answer(server, socket, document)
  return socket
}

/** Opens connections. Up to `most` of them are being opened at the same time. */
export async function enterAll(
  count: number,
  open: (index: number) => Promise<LoadSocket>,
  most = atOnce,
): Promise<LoadSocket[]> {
  const sockets: LoadSocket[] = []
  while (sockets.length < count) {
    const from = sockets.length
    const size = Math.min(most, count - from)
    sockets.push(...(await Promise.all(Array.from({ length: size }, (_, index) => open(from + index)))))
  }
  return sockets
}

/** Opens `count` connections to the same document. */
export const enterRoom = (server: Running, document: string, count: number): Promise<LoadSocket[]> =>
  enterAll(count, () => join(server, document))

/** Opens one connection for each name. All connections are to the same document. */
export async function enterAs<Name extends string>(
  server: Running,
  document: string,
  names: readonly Name[],
): Promise<Readonly<Record<Name, LoadSocket>>> {
  const sockets = await enterRoom(server, document, names.length)
  return Object.fromEntries(names.map((name, index) => [name, sockets[index]])) as Record<Name, LoadSocket>
}

/**
 * Requests the whole document with an empty state vector, and waits for the answer.
 * @throws Error if the server closes the connection or does not answer
 */
export async function answer(server: Running, socket: LoadSocket, document: string): Promise<void> {
  await received(server, socket, document, (kind) => kind === 'offer')
}

/** A text that a client has written: its client id, and the number of characters. */
export interface Written {
  readonly client: number
  readonly characters: number
}

/**
 * Requests the whole document, and waits until all of the text has arrived, in the answer or after it.
 * @throws Error if the server closes the connection or does not send the text
 */
export async function textArrives(
  server: Running,
  socket: LoadSocket,
  document: string,
  { client, characters }: Written,
): Promise<void> {
  await received(
    server,
    socket,
    document,
    (_kind, bytes) => (Y.parseUpdateMeta(bytes).to.get(client) ?? 0) >= characters,
  )
}

async function received(
  server: Running,
  socket: LoadSocket,
  document: string,
  isLast: (kind: 'update' | 'offer', bytes: Uint8Array) => boolean,
): Promise<void> {
  let late: NodeJS.Timeout | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      late = setTimeout(
        () => reject(new Error(`the server does not send a document within ${patienceMs / 1000} s`)),
        patienceMs,
      )
      socket.onClose = () => reject(new Error(refusal(socket)))
      socket.onMessage = (payload) => {
        const message = server.dialect.read(payload)
        if (message !== null && message.kind !== 'awareness' && isLast(message.kind, message.bytes)) resolve()
      }
      socket.send(server.dialect.ask(document))
      socket.send(server.dialect.offerNothing(document))
    })
  } finally {
    clearTimeout(late)
    socket.onClose = () => undefined
  }
}

const refusal = ({ closeCode }: LoadSocket): string =>
  closeCode === 1013
    ? 'the server refuses connections (1013): one of its limits acts, see its log'
    : `the server closes a connection (${closeCode ?? 'without a close code'})`

export const documentOf = (index: number): string => `document-${index}`

/** Length of the texts that `fill` writes, in characters. */
export const characters = 1_000

/**
 * Writes a text into documents that do not exist, and ends the clients when the server has stored it.
 * @param settleMs time in ms in which all servers store what they have received
 */
export async function fill(
  server: Running,
  documents: readonly string[],
  settleMs: number,
): Promise<Written> {
  const { client, update } = newText()
  const sockets = await enterAll(documents.length, async (index) => {
    const document = documents[index] as string
    const socket = await join(server, document)
    socket.send(server.dialect.update(document, update))
    if (server.answers) await textArrives(server, socket, document, { client, characters })
    return socket
  })
  await sleep(settleMs)
  for (const socket of sockets) socket.end()
  return { client, characters }
}

/** Returns the update of a new client that has written a text. */
export function newText(): { readonly client: number; readonly update: Uint8Array } {
  const doc = new Y.Doc()
  doc.getText('content').insert(0, 'lorem ipsum '.repeat(characters).slice(0, characters))
  return { client: doc.clientID, update: Y.encodeStateAsUpdate(doc) }
}
