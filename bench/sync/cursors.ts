import type { Contender, Running } from '../load/contenders.ts'
import { prefixed, readVarUint, varUint } from '../load/frames.ts'
import type { LoadSocket } from '../load/load-socket.ts'
import { perDelivered, type Scale, type Scenario } from '../load/scenario.ts'
import { enter, enterAll, paced, sleep } from '../load/typing.ts'
import { cpuOfTree } from '../support/cpu.ts'

/** Somebody who moves a cursor. */
class Mover {
  /** States of others that have been shown. */
  shown = 0
  readonly #id: number
  readonly #send: (entry: Buffer) => void
  #clock = 1

  constructor(id: number, socket: LoadSocket, { dialect }: Running, document: string) {
    this.#id = id
    this.#send = (entry) => socket.send(dialect.awareness(document, entry))
    socket.onMessage = (payload) => {
      const message = dialect.read(payload)
      if (message?.kind === 'awareness') this.shown += othersIn(message.bytes, id)
    }
  }

  move(): void {
    const at = {
      type: { client: 1_234_567_890, clock: 4_321 },
      tname: null,
      item: { client: 7, clock: this.#clock },
    }
    const user = { name: `Client ${this.#id}`, color: '#30bced', colorLight: '#30bced33' }
    const state = Buffer.from(JSON.stringify({ user, cursor: { anchor: at, head: at } }))
    this.#send(Buffer.concat([varUint(1), varUint(this.#id), varUint(this.#clock++), prefixed(state)]))
  }
}

/** How many states in an awareness update are of others. */
function othersIn(bytes: Buffer, own: number): number {
  const { value: count, end: start } = readVarUint(bytes, 0)
  let [others, at] = [0, start]
  for (let index = 0; index < count; index++) {
    const client = readVarUint(bytes, at)
    const clock = readVarUint(bytes, client.end)
    const state = readVarUint(bytes, clock.end)
    at = state.end + state.value
    if (client.value !== own) others += 1
  }
  return others
}

/** @param perSecond moves of each client */
export const cursors = (name: string, clients: number, perSecond: number): Scenario<'cpu' | 'share'> => ({
  name,
  needsStore: false,
  figures: { cpu: perDelivered, share: { label: 'shown of all moves', digits: 2, better: 'more' } },
  async run(contender: Contender, data, { seconds }: Scale) {
    const server = await contender.start(data)
    const document = 'cursors'
    const sockets = await enterAll(clients, () => enter(server, document))
    const movers = sockets.map((socket, index) => new Mover(1_000 + index, socket, server, document))
    let moved = 0
    const stop = paced(clients * perSecond, (due) => {
      for (let index = 0; index < due; index++) movers[moved++ % clients]?.move()
    })
    await sleep(seconds * 1000)
    const shown = (): number => movers.reduce((sum, mover) => sum + mover.shown, 0)
    const [before, movedBefore, cpu] = [shown(), moved, cpuOfTree(server.pid)]
    await sleep(seconds * 1000)
    const [delivered, sent, used] = [shown() - before, moved - movedBefore, cpuOfTree(server.pid) - cpu]
    stop()
    await server.kill()
    return { cpu: used / delivered, share: delivered / (sent * (clients - 1)) }
  },
})
