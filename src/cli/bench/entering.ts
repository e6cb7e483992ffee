import type { Running } from './contender.ts'
import { LoadSocket } from './load-socket.ts'

/** Maximum number of connections that are being opened at the same time. */
const atOnce = 50

/** Opens a connection, and sends the first messages of its protocol. */
export async function enter(server: Running, document: string): Promise<LoadSocket> {
  const socket = await LoadSocket.open(server.url(document))
  for (const message of server.dialect.hello(document)) socket.send(message)
  return socket
}

/** Opens connections. Up to `atOnce` of them are being opened at the same time. */
export async function enterAll(
  count: number,
  open: (index: number) => Promise<LoadSocket>,
): Promise<LoadSocket[]> {
  const sockets: LoadSocket[] = []
  while (sockets.length < count) {
    const from = sockets.length
    const size = Math.min(atOnce, count - from)
    sockets.push(...(await Promise.all(Array.from({ length: size }, (_, index) => open(from + index)))))
  }
  return sockets
}

/** Opens `count` connections to the same document. */
export const enterRoom = (server: Running, document: string, count: number): Promise<LoadSocket[]> =>
  enterAll(count, () => enter(server, document))

/** Opens one connection for each name. All connections are to the same document. */
export async function enterAs<Name extends string>(
  server: Running,
  document: string,
  names: readonly Name[],
): Promise<Readonly<Record<Name, LoadSocket>>> {
  const sockets = await enterRoom(server, document, names.length)
  return Object.fromEntries(names.map((name, index) => [name, sockets[index]])) as Record<Name, LoadSocket>
}

/** Requests the whole document with an empty state vector, and waits for the answer. */
export async function answer(server: Running, socket: LoadSocket, document: string): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.onMessage = (payload) => server.dialect.read(payload)?.kind === 'offer' && resolve()
    socket.send(server.dialect.ask(document))
    socket.send(server.dialect.offerNothing(document))
  })
}
